import { expect, it } from "vitest";
import { auditActions } from "#domain/conversation/message.ts";
import { adminSubjects, adminVerbs } from "#domain/workspace/admin-action.ts";
import { actionOptions, actionWords } from "./words.ts";

it("has words for every action of administrators", () => {
  for (const subject of adminSubjects) {
    for (const verb of adminVerbs) expect(actionWords(`${subject}_${verb}`)).toMatch(/^[a-z]+ [a-zA-Z' -]+:?$/);
  }
  expect(actionWords("api_key_added")).toBe("added the API key");
  expect(actionWords("webhook_replayed")).toBe("replayed events of the webhook");
});

it("has words and a filter for every action in conversations", () => {
  for (const action of auditActions) {
    expect(actionWords(action)).not.toContain("_");
    expect(actionOptions.map(({ value }) => value)).toContain(action);
  }
});

it("says an action of a later version as well as it can", () => {
  expect(actionWords("probe_added" as "agent_added")).toBe("probe added");
});
