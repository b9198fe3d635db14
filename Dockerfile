# SPDX-License-Identifier: Apache-2.0
#
# The image of a switch (the default) or of a host:
#
#     docker build -t sluice:latest .
#     docker run -d --network none --cap-add NET_ADMIN \
#         --device /dev/net/tun sluice:latest [switch|host|lossless-host ...]
#
# Never on a Docker network, which is a Linux bridge and drops PFC frames:
# links are veth pairs, made by sluice-topo or `sluicectl port attach`.
FROM debian:bookworm-slim AS build
RUN apt-get -q update && \
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        install autoconf automake gcc libc6-dev make pkg-config \
        libbpf-dev libcap-ng-dev libevent-dev \
        libjson-c-dev libnl-3-dev libnl-route-3-dev libsqlite3-dev \
        libssl-dev libxdp-dev sqlite3 python3
WORKDIR /src
COPY . .
RUN autoreconf -fi && mkdir /build && cd /build && \
    /src/configure -q --prefix=/usr --sysconfdir=/etc --localstatedir=/var \
        --runstatedir=/run --without-criterion && \
    make -s -j"$(nproc)" && make -s install-strip DESTDIR=/out && \
    install -D -m 755 /src/utilities/docker/sluice-container \
        /out/usr/bin/sluice-container && \
    rm -rf /out/usr/share /out/usr/lib/systemd /out/usr/bin/sluice-topo

FROM debian:bookworm-slim
RUN apt-get -q update && \
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        install iproute2 libbpf1 libcap-ng0 libevent-2.1-7 \
        libevent-openssl-2.1-7 libjson-c5 libnl-3-200 libnl-route-3-200 \
        libsqlite3-0 libssl3 libxdp1 && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/*.log /var/log/apt
COPY --from=build /out/ /
ENV SLUICE_SOCKET=/run/sluice/control.sock
VOLUME /var/lib/sluice
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s \
    CMD ["sluice-container", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["sluice-container"]
CMD ["switch"]
