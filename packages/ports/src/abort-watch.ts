/** What ends when its signal aborts. */
export interface Abortable {
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
}

/** What is known of one signal. */
interface Watched {
  readonly members: Abortable[];
  readonly listener: () => void;
  /** It has come a second time, so it is one that comes again and again. */
  returns: boolean;
}

const signals = new WeakMap<AbortSignal, Watched>();

/**
 * From now on `onAbort` of `member` is called when its signal aborts, which it has not done yet.
 *
 * The engine uses one signal for one send after another, and to add a listener and to remove it costs more than all else
 * that a sender does with a signal. So one that comes again is listened to once, for as long as it lives and for all who
 * watch it. One that comes only once is left as it was.
 */
export function watchAbort(member: Abortable): void {
  const { signal } = member;
  let watched = signals.get(signal);
  if (watched === undefined) {
    watched = watchedBy(member);
    signals.set(signal, watched);
    signal.addEventListener("abort", watched.listener);
    return;
  }
  watched.members.push(member);
  if (watched.returns) return;
  watched.returns = true;
  signal.addEventListener("abort", watched.listener);
}

/** `member` is done, and not called any more. */
export function unwatchAbort(member: Abortable): void {
  const { signal } = member;
  const watched = signals.get(signal);
  if (watched === undefined) return;
  const { members, listener, returns } = watched;
  const last = members.pop();
  if (last !== undefined && last !== member) {
    const place = members.indexOf(member);
    if (place < 0) members.push(last);
    else members[place] = last;
  }
  if (!returns && members.length === 0) signal.removeEventListener("abort", listener);
}

function watchedBy(first: Abortable): Watched {
  const members = [first];
  const listener = (): void => {
    for (const member of members.splice(0)) member.onAbort();
  };
  return { members, listener, returns: false };
}
