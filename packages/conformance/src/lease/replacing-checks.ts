import { type LeaseCheck, lease, withStore } from "./check.ts";

/** That a replacement is made exactly when what is stored is what was expected. */
export const REPLACING_CHECKS = {
  "replaces the record that was expected": withStore(async (owner) => {
    const next = lease({ holder: "b", token: 2, beat: 9, ttlMs: 5 });
    await owner.make(undefined, lease());
    await owner.make(lease(), next);
    await owner.find(next);
  }),
  "token and beat decide, not holder and ttl": withStore(async (owner) => {
    await owner.make(undefined, lease());
    await owner.make(lease({ holder: "somebody else", ttlMs: 1 }), lease({ beat: 2 }));
    await owner.find(lease({ beat: 2 }));
  }),
  "what was expected to be absent and is there is refused": withStore(async (owner) => {
    await owner.make(undefined, lease());
    await owner.refuse(undefined, lease({ token: 2 }));
  }),
  "what was expected to be absent and was released is refused": withStore(async (owner) => {
    const released = lease({ holder: "", beat: 2 });
    await owner.make(undefined, lease());
    await owner.make(lease(), released);
    await owner.refuse(undefined, lease({ token: 2 }));
    await owner.make(released, lease({ token: 2 }));
  }),
  "what was expected to be there and is absent is refused": withStore(async (owner) => {
    await owner.refuse(lease(), lease({ beat: 2 }));
    await owner.refuse(lease({ token: 0, beat: 0 }), lease());
    await owner.make(undefined, lease());
  }),
  "an older beat is refused": withStore(async (owner) => {
    await owner.make(undefined, lease({ beat: 1 }));
    await owner.make(lease({ beat: 1 }), lease({ beat: 2 }));
    await owner.refuse(lease({ beat: 1 }), lease({ beat: 3 }));
  }),
  "an older token is refused, with the same beat": withStore(async (owner) => {
    await owner.make(undefined, lease({ token: 1, beat: 5 }));
    await owner.make(lease({ token: 1, beat: 5 }), lease({ holder: "b", token: 2, beat: 5 }));
    await owner.refuse(lease({ token: 1, beat: 5 }), lease({ token: 1, beat: 6 }));
  }),
  "a token or beat that was never there is refused": withStore(async (owner) => {
    await owner.make(undefined, lease({ token: 5, beat: 5 }));
    await owner.refuse(lease({ token: 6, beat: 5 }), lease({ token: 7 }));
    await owner.refuse(lease({ token: 5, beat: 6 }), lease({ token: 7 }));
  }),
  "a replacement that was made is refused when it is repeated": withStore(async (owner) => {
    await owner.make(undefined, lease({ beat: 1 }));
    await owner.make(lease({ beat: 1 }), lease({ beat: 2 }));
    await owner.refuse(lease({ beat: 1 }), lease({ beat: 2 }));
  }),
  "numbers may go back: what they mean is not the store's business": withStore(async (owner) => {
    await owner.make(undefined, lease({ token: 9, beat: 9 }));
    await owner.make(lease({ token: 9, beat: 9 }), lease({ token: 1, beat: 1 }));
    await owner.find(lease({ token: 1, beat: 1 }));
  }),
} as const satisfies Record<string, LeaseCheck>;
