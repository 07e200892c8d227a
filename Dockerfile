# The reference binary, in an image that runs as nobody in particular on a read-only file system:
#
#   docker build -t bridge \
#     --build-arg BUILD_IMAGE=node:24-bookworm-slim@sha256:… --build-arg RUNTIME_IMAGE=node:24-bookworm-slim@sha256:… .
#   docker run --read-only --restart=always -v "$PWD/bridge.yaml:/etc/bridge/bridge.yaml:ro" -p 8081:8081 bridge
#
# Both bases need a glibc and Node 24 or newer; the second one runs `node` by that name. They have no default: a tag
# can mean something else tomorrow, so whoever builds names what was looked at, by its digest.
ARG BUILD_IMAGE
ARG RUNTIME_IMAGE

FROM ${BUILD_IMAGE} AS build
ARG BUILD_IMAGE
ARG RUNTIME_IMAGE
RUN for image in "$BUILD_IMAGE" "$RUNTIME_IMAGE"; do \
      case "$image" in *@sha256:*) ;; *) echo "$image: name the image by its digest, NAME@sha256:…" >&2; exit 1 ;; esac; \
    done
ENV CI=true
WORKDIR /src
COPY . .
RUN npx --yes pnpm@12.21.0 install --frozen-lockfile --filter bridge --filter "@bridge/reference..." \
 && npx --yes pnpm@12.21.0 --filter @bridge/reference run build

FROM ${RUNTIME_IMAGE}
ENV NODE_ENV=production
# The C library gives freed memory back, so that the process does not grow with each peak: docs/operating.md, "Memory".
ENV MALLOC_ARENA_MAX=2
ENV MALLOC_MMAP_THRESHOLD_=131072
ENV MALLOC_TRIM_THRESHOLD_=131072
# Where the container looks for its own liveness; change it together with http.monitor_addr.
ENV BRIDGE_LIVE_URL=http://127.0.0.1:8081/api/v1/monitor/live
# The launcher takes the signals of the process before the program is loaded, which it looks for beside itself.
COPY --from=build /src/apps/reference/dist/main.js /opt/bridge/main.mjs
COPY --from=build /src/apps/reference/dist/main-program.js /opt/bridge/main-program.mjs
# What expressions of processors, and the text of the configuration file, are worked on in; named as the program expects them
# beside itself.
COPY --from=build /src/apps/reference/dist/processor-thread.js /opt/bridge/processor-thread.mjs
COPY --from=build /src/apps/reference/dist/yaml-thread.js /opt/bridge/yaml-thread.mjs
# Licences of what is in these.
COPY --from=build /src/apps/reference/dist/THIRD-PARTY-NOTICES.txt /opt/bridge/THIRD-PARTY-NOTICES.txt
WORKDIR /etc/bridge
# A number, so that an orchestrator can see that it is not root.
USER 1000:1000
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(process.env.BRIDGE_LIVE_URL).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/bridge/main.mjs"]
CMD ["-config", "/etc/bridge/bridge.yaml"]
