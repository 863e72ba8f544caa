# Caddy with Rehearsal, as a user without privileges on a root file system that may be read-only:
#
#	docker build -t rehearsal .
#	docker run --rm --read-only -p 8080:8080 -v ./Caddyfile:/etc/caddy/Caddyfile:ro -v rehearsal:/data rehearsal
#	docker run --rm --read-only rehearsal replay http://host.docker.internal:8080/ -n 1000
#
# Caddy keeps certificates, its last configuration and what is recorded below /data, which is a volume.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /out/caddy ./cmd/caddy && mkdir -p /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/caddy /usr/bin/caddy
COPY --from=build --chown=65532:65532 /out/data /data
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/data/config HOME=/data
WORKDIR /data
VOLUME /data
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/bin/caddy"]
CMD ["run", "--config", "/etc/caddy/Caddyfile"]
