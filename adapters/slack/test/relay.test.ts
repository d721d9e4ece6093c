import { describe, expect, it } from "vitest";
import { hostWith } from "#test/support/channels/partial-host.ts";
import type { WebRequest, WebResponse } from "#channels/contract.ts";
import { createRelay, signedRequest } from "../install/relay.ts";

const request: WebRequest = signedRequest({}, "secret", 0);
const own = "A1/T1";

/** Returns the key that a delivery is relayed by, `own` for one that is not relayed, or `nowhere`. */
async function wayOf(given: unknown, answer: WebResponse | null = { status: 200 }): Promise<string> {
  let way: string | undefined;
  const deliver = async (key: string): Promise<WebResponse | null> => {
    way = key;
    return answer;
  };
  const relayed = await createRelay(hostWith({ installation: { key: own, deliver } })).take(given, () => request);
  if (relayed === null) return "own";
  return answer === null ? "nowhere" : (way ?? "nowhere");
}

describe("a delivery of an app with several workspaces", () => {
  const app = { api_app_id: "A1" };
  const authorizations = (team: string | null) => [{ team_id: team, user_id: "U0", is_bot: true }];
  it.each([
    ["an event that T1 may see", { ...app, team_id: "T2", authorizations: authorizations("T1") }, "own"],
    ["an event that T2 may see", { ...app, team_id: "T1", authorizations: authorizations("T2") }, "A1/T2"],
    ["an event of an organisation", { ...app, team_id: "T1", authorizations: authorizations(null) }, "own"],
    ["an event without installations", { ...app, team_id: "T2", authorizations: [] }, "A1/T2"],
    ["a command", { ...app, team_id: "T2", command: "/parley", user_id: "U1" }, "A1/T2"],
    ["a press", { ...app, team: { id: "T2" }, user: { id: "U1", team_id: "T1" } }, "A1/T2"],
    ["a press in an organisation", { ...app, team: null, user: { id: "U1", team_id: "T2" } }, "A1/T2"],
    ["a view of T1", { ...app, team: { id: "T2" }, view: { app_installed_team_id: "T1" }, user: {} }, "own"],
    ["the check of an address", { type: "url_verification", challenge: "x" }, "own"],
    ["another app's event", { api_app_id: "A2", team_id: "T1", authorizations: authorizations("T1") }, "A2/T1"],
    ["no object", "text", "own"],
    ["fields of other types", { api_app_id: 1, team_id: {}, authorizations: "x" }, "own"],
  ])("goes by its team: %s", async (_what, given, way) => {
    expect(await wayOf(given)).toBe(way);
  });

  it("stays where its team has no account, unless it is surely another team's", async () => {
    expect(await wayOf({ ...app, team: { id: "T3" }, user: { id: "U1" } }, null)).toBe("own");
    expect(await wayOf({ ...app, team_id: "T3", authorizations: authorizations("T3") }, null)).toBe("nowhere");
  });
});
