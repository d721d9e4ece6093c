import { expect, it } from "vitest";
import { nearestOf } from "./closest-name.ts";

it.each([
  ["assigned_tp", ["since", "until", "assigned_to"], "assigned_to"],
  ["assigned_tp", ["since", "until", "status", "limit", "cursor"], undefined],
  ["author", ["content", "author_email"], "author_email"],
  ["email", ["content", "author_email"], "author_email"],
  ["assignedTo", ["assigned_to", "tags"], "assigned_to"],
  ["stauts", ["status", "since"], "status"],
  ["force", ["workspace_id"], undefined],
  ["__proto__", ["query", "top_k", "metadata"], undefined],
  ["x", [], undefined],
])("%s is near to none of %j but %s", (name, known, nearest) => {
  expect(nearestOf(name, known)).toBe(nearest);
});
