/**
 * The parts of the Compose specification that our files may use. A missing part is an error in a file, or is added
 * here.
 */
const text = { type: "string", minLength: 1 } as const;
const texts = { type: "array", items: text, minItems: 1, uniqueItems: true } as const;
const duration = { type: "string", pattern: "^([0-9]+(us|ms|s|m|h))+$" } as const;
const command = { oneOf: [text, { type: "array", items: { type: "string" }, minItems: 1 }] } as const;
const environment = {
  oneOf: [
    { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } },
    { type: "array", items: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*(=.*)?$" }, uniqueItems: true },
  ],
} as const;
const name = "^[a-zA-Z0-9._-]+$";

const closed = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const service = {
  ...closed({
    image: { type: "string", pattern: "^[a-z0-9./_-]+(:[\\w.-]+)?(@sha256:[0-9a-f]{64})?$" },
    build: { oneOf: [text, closed({ context: text, dockerfile: text, target: text, args: environment })] },
    command,
    entrypoint: command,
    environment,
    env_file: {
      oneOf: [
        text,
        {
          type: "array",
          minItems: 1,
          items: { oneOf: [text, closed({ path: text, required: { type: "boolean" } }, ["path"])] },
        },
      ],
    },
    init: { type: "boolean" },
    restart: { enum: ["no", "always", "on-failure", "unless-stopped"] },
    profiles: { type: "array", items: { type: "string", pattern: "^[a-zA-Z0-9][a-zA-Z0-9_.-]+$" }, minItems: 1 },
    ports: {
      type: "array",
      // [[address:]published:]target; each port is a number, a range or a variable.
      items: {
        type: "string",
        pattern:
          "^((\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:]+\\]):)?((\\d+(-\\d+)?|\\$\\{[^}]+\\}):)?\\d+(-\\d+)?(/(tcp|udp))?$",
      },
      uniqueItems: true,
    },
    expose: texts,
    volumes: { type: "array", items: { type: "string", pattern: "^[^:]+:/[^:]*(:(ro|rw|z|Z))?$" }, uniqueItems: true },
    tmpfs: { oneOf: [text, texts] },
    networks: texts,
    secrets: texts,
    depends_on: {
      oneOf: [
        texts,
        {
          type: "object",
          additionalProperties: closed(
            {
              condition: { enum: ["service_started", "service_healthy", "service_completed_successfully"] },
              restart: { type: "boolean" },
              required: { type: "boolean" },
            },
            ["condition"],
          ),
        },
      ],
    },
    healthcheck: closed(
      {
        test: {
          oneOf: [
            text,
            {
              type: "array",
              items: [{ enum: ["CMD", "CMD-SHELL"] }],
              additionalItems: { type: "string" },
              minItems: 2,
            },
            { type: "array", items: [{ const: "NONE" }], minItems: 1, maxItems: 1 },
          ],
        },
        interval: duration,
        timeout: duration,
        retries: { type: "integer", minimum: 1 },
        start_period: duration,
        start_interval: duration,
        disable: { type: "boolean" },
      },
      ["test"],
    ),
    stop_grace_period: duration,
    stop_signal: text,
    read_only: { type: "boolean" },
    cap_drop: texts,
    cap_add: texts,
    security_opt: texts,
    user: text,
  }),
  anyOf: [{ required: ["image"] }, { required: ["build"] }],
};

const orNothing = (schema: object) => ({ oneOf: [{ type: "null" }, schema] });

export const composeSchema = closed(
  {
    name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]*$" },
    services: { type: "object", patternProperties: { [name]: service }, additionalProperties: false, minProperties: 1 },
    networks: {
      type: "object",
      patternProperties: {
        [name]: orNothing(
          closed({ internal: { type: "boolean" }, external: { type: "boolean" }, name: text, driver: text }),
        ),
      },
      additionalProperties: false,
    },
    volumes: {
      type: "object",
      patternProperties: { [name]: orNothing(closed({ external: { type: "boolean" }, name: text, driver: text })) },
      additionalProperties: false,
    },
    secrets: {
      type: "object",
      patternProperties: {
        [name]: {
          ...closed({ file: text, environment: text, external: { type: "boolean" }, name: text }),
          minProperties: 1,
        },
      },
      additionalProperties: false,
    },
  },
  ["services"],
);
