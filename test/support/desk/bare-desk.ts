import Type from "typebox";
import type { Desk } from "#channels/desk/contract.ts";
import type { TestDatabase } from "../database/databases.ts";
import type { EngineBench } from "../engine-bench.ts";
import { openBench } from "../engine-bench.ts";

const noOperation = async (): Promise<void> => undefined;

/** An installation whose desk shows every conversation and has no agents. Methods that are not given do nothing. */
export function openBareDesk(open: () => Promise<TestDatabase>, given: Partial<Desk>): Promise<EngineBench> {
  const desk: Desk = {
    fileBytesMax: 0,
    render: (item) => (item.kind === "message" ? [{ text: item.message.text, payload: {} }] : []),
    open: async () => "thread",
    post: async (_thread, { text }) => text,
    find: async () => null,
    update: noOperation,
    change: noOperation,
    mark: noOperation,
    remove: noOperation,
    notify: noOperation,
    person: async () => ({ kind: "stranger", reason: "the desk has no agents" }),
    check: async () => "",
    ...given,
  };
  return openBench(open, {
    account: {
      channel: "telegram",
      config: {},
      load: async () => ({
        config: Type.Object({}),
        secrets: [],
        create: () => ({
          capabilities: { textMax: null, typing: false, receipts: true, idempotentSend: true },
          inbound: { kind: "webhook", receive: async () => ({ status: 200 }) },
          render: ({ markdown }) => [{ text: markdown, payload: {} }],
          send: async (_part, { key }) => ({ externalId: key, state: "sent" }),
          desk,
          close: noOperation,
        }),
      }),
    },
    settings: { desk: { account: "test telegram", channel: "here", mirror: "every", replyMode: "implicit" } },
  });
}
