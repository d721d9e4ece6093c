import { describe, expect, it } from "vitest";
import { eventText } from "./event-text.ts";

const entry = {
  action: "status_changed" as const,
  actor_type: "customer",
  actor_id: null,
  actor_name: null,
  from_value: "resolved",
  to_value: "open",
  detail: null,
};
const agentName = async (email: string): Promise<string> => (email === "jo@shop.example" ? "jo van Dam" : email);

describe("the text of a change at the desk", () => {
  it.each([
    ["names the customer within a sentence", {}, "Reopened by the customer."],
    ["begins a sentence with a capital letter", { to_value: "claimed", actor_type: "api_key" }, "The API claimed it."],
    [
      "leaves an agent's name as it is written",
      { to_value: "claimed", actor_type: "agent", actor_id: "jo@shop.example" },
      "jo van Dam claimed it.",
    ],
    [
      "says who gave it to whom",
      { action: "assigned" as const, actor_type: "api_key", from_value: null, to_value: "jo@shop.example" },
      "The API gave it to jo van Dam.",
    ],
  ])("%s", async (_title, change, text) => {
    expect(await eventText({ ...entry, ...change }, agentName)).toBe(text);
  });
});
