import { describe, expect, it } from "vitest";
import type { DeskConversation } from "#channels/desk/contract.ts";
import { cardOf, parseBlockId } from "../desk/card.ts";

const conversation: DeskConversation = {
  id: "conv_1",
  url: "https://help.example/inbox#/all/conv_1",
  channel: "whatsapp",
  status: "escalated",
  priority: "normal",
  assignee: null,
  customer: {
    label: "Ada",
    name: "Ada",
    email: null,
    phone: "+15551000001",
    verified: true,
    verifiedFields: ["phone"],
  },
  sla: { state: "in_compliance", dueAt: null, leftMs: 60_000 },
  window: null,
  tags: [],
  startedAt: 0,
  snoozedUntil: null,
  question: "Where is my parcel?",
  thread: null,
};
const shown = (window: DeskConversation["window"]): string =>
  JSON.stringify(cardOf({ ...conversation, window }).blocks);

describe("the card of a conversation with a reply window", () => {
  const closesAt = Date.UTC(2031, 4, 15, 10, 20);

  it("shows the time until which replies are free", () => {
    expect(shown({ isOpen: true, closesAt, closed: null })).toContain(
      `*Free replies*\\nuntil <!date^${closesAt / 1_000}^{date_short_pretty} {time}|2031-05-15T10:20 UTC>`,
    );
  });

  it("shows as text how replies are sent after that time", () => {
    const text = shown({ isOpen: false, closesAt, closed: "it is over. A reply goes to <a@b.example>." });
    expect(text).toContain(`closed since <!date^${closesAt / 1_000}^`);
    expect(text).toContain("A reply goes to &lt;a@b.example&gt;.");
    expect(shown({ isOpen: false, closesAt: null, closed: "nobody wrote" })).toContain("closed: nobody wrote");
  });

  it("shows no window on other channels", () => {
    expect(shown(null)).not.toContain("Free replies");
  });
});

describe("the buttons of a card", () => {
  it("contain the card's state, whatever the assignee's address", () => {
    const id = `conv_${"0".repeat(26)}`;
    const email = "mia|desk@shop.example";
    const { blocks } = cardOf({ ...conversation, id, status: "claimed", assignee: { email, name: "Mia" } });
    const given = blocks.flatMap(({ block_id: each }) => (typeof each === "string" ? [parseBlockId(each)] : []));
    expect(given).toEqual([{ conversationId: id, seen: { status: "claimed", assignedTo: email } }]);
  });
});
