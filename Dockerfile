# syntax=docker/dockerfile:1

# The server and the code that runs in browsers are bundled here; the bundler is not part of the final image.
FROM node:24.21.0-slim AS built
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY adapters adapters
COPY src src
RUN node src/build/main.ts

# What the program needs when it runs. The image has Node.js, so the one that npm brings is removed.
FROM node:24.21.0-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund && rm -rf node_modules/node-linux-*

FROM node:24.21.0-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    PARLEY_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY LICENSE ./
COPY bin bin
COPY config config
# The manual is what a fresh installation answers from.
COPY docs docs
# With the times of their changes, by which the program knows the bundle of them.
COPY --from=built /app/package.json ./
COPY --from=built /app/src src
COPY --from=built /app/adapters adapters
COPY --from=built /app/dist dist
RUN mkdir -p -m 700 /data && mkdir -p node_modules/.cache/parley && chown node:node /data node_modules/.cache/parley
USER node
# Compiles the program once for all starts, also where the image is read-only. It keeps apart what each user compiled.
RUN node bin/parley.js help > /dev/null
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node.js itself receives the signals: no shell or npm stands between.
ENTRYPOINT ["node", "/app/bin/parley.js"]
CMD ["start"]
