import { beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Client } from "../support/http/contract.ts";
import { agent, eachContract, humanPlease, walk } from "../support/http/contract.ts";

const minuteMs = 60_000;

eachContract("4.1 the list of conversations", (at) => {
  it("4.1 requires workspace_id", async () => {
    for (const query of ["", "?workspace_id", "?limit=5"]) {
      const { status, body } = await at.client.get(`/v1/conversations${query}`);
      expect([query, status, body.code]).toEqual([
        query,
        400,
        query.includes("workspace_id") ? "invalid_workspace_id" : "missing_field",
      ]);
    }
  });

  it.each([
    "x",
    "wt_",
    "wt_ab_0123456789",
    "wt_abcdef_short",
    "wt_abcdef-0123456789",
    "WT_abcdef_0123456789",
    "wt_ABCDEF_0123456789",
    "wt_abcdef_0123456789'",
    " wt_abcdef_0123456789",
    "wt_abcdef_0123456789\n",
    "conv_abcdef_0123456789",
  ])("7 refuses the workspace id %j as malformed", async (id) => {
    const { status, body } = await at.client.get(`/v1/conversations?workspace_id=${encodeURIComponent(id)}`);
    expect([status, body.code]).toEqual([400, "invalid_workspace_id"]);
  });

  it("7 refuses a workspace id that is given twice as malformed", async () => {
    const { status, body } = await at.client.list(`&workspace_id=${at.client.id}`);
    expect([status, body.code]).toEqual([400, "invalid_workspace_id"]);
  });

  it("7 distinguishes an unknown workspace from another owner's", async () => {
    const unknown = await at.client.get("/v1/conversations?workspace_id=wt_zzzzzz_0123456789abcdef");
    expect([unknown.status, unknown.body.code]).toEqual([404, "workspace_not_found"]);
    const other = await at.fresh();
    for (const id of [other.id, other.id.replace("wt_", "ws_")]) {
      const foreign = await at.client.get(`/v1/conversations?workspace_id=${id}`);
      expect([foreign.status, foreign.body.code]).toEqual([403, "workspace_access_denied"]);
    }
  });

  it("4.1 lists nothing of another workspace", async () => {
    const other = await at.fresh();
    const id = await other.begin();
    expect(await at.client.found("&limit=100")).not.toContain(id);
  });

  it.each(["channel=fax", "channel=", "channel=API", "channel=api&channel=api"])("4.1 refuses %s", async (given) => {
    const { status, body } = await at.client.list(`&${given}`);
    expect([status, body.code]).toEqual([422, "invalid_parameter"]);
    expect(body.detail).toContain("channel");
  });

  it.each([
    ["status", "status=closed"],
    ["status", "status="],
    ["status", "status=Open"],
    ["status", "status=open&status=open"],
    ["sla_state", "sla_state=late"],
    ["tag", `tag=${"x".repeat(65)}`],
    ["tag", "tag="],
    ["since", "since=yesterday"],
    ["since", "since="],
    ["since", "since=2026-02-30"],
    ["since", "since=1700000000"],
    ["since", "since=2026-01-01T24:01:00Z"],
    ["since", "since=2026-01-01&since=2026-01-02"],
    ["until", "until=2026-13-01T00:00:00Z"],
    ["until", "until=2026-01-01T00:00:00%2B25:00"],
    ["email", "email="],
    ["limit", "limit="],
    ["limit", "limit=0"],
    ["limit", "limit=-1"],
    ["limit", "limit=101"],
    ["limit", "limit=ten"],
    ["limit", "limit=1.5"],
    ["limit", "limit=1e1"],
    ["limit", "limit=0x10"],
    ["limit", "limit=99999999999999999999"],
    ["limit", "limit=5&limit=6"],
  ])("4.1 names the parameter %s when it refuses %s", async (name, given) => {
    const { status, body } = await at.client.list(`&${given}`);
    expect([status, body.code]).toEqual([422, "invalid_parameter"]);
    expect(body.detail).toContain(name);
  });

  it("4.1 refuses unknown parameters", async () => {
    for (const given of [
      "&colour=red",
      "&Status=open",
      "&tags=none",
      "&__proto__[x]=1",
      "&constructor=1",
      "&%E2%98%83=1",
    ]) {
      const { status, body } = await at.client.list(given);
      expect([given, status, body.code]).toEqual([given, 422, "invalid_parameter"]);
    }
  });

  it("4.1 returns 20 by default, and from 1 to 100 by limit", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 101; i += 1) await client.begin();
    expect(await client.found()).toHaveLength(20);
    expect(await client.found("&limit=1")).toHaveLength(1);
    const { body } = await client.list("&limit=100");
    expect([body.conversations.length, body.pagination.has_more]).toEqual([100, true]);
  }, 60_000);

  it("4.1 lists the newest first, and of simultaneous ones the later id", async () => {
    const client = await at.fresh();
    const together = [];
    for (let i = 0; i < 4; i += 1) together.push((await client.ask()).body.conversation_id);
    const later = await client.begin();
    expect(await client.found()).toEqual([later, ...together.toSorted().toReversed()]);
  });

  it("4.1 keeps the order of creation, whatever happens in a conversation later", async () => {
    const client = await at.fresh();
    const [first, second] = [await client.begin(), await client.begin()];
    at.app.clock.advance(1_000);
    await client.ask({ conversation_id: first });
    await client.patch(first, { priority: "urgent" });
    expect(await client.found()).toEqual([second, first]);
  });
});

eachContract("4.1 the filters of the list", (at) => {
  let client: Client;
  const by: Record<string, string> = {};
  const startedAt: Record<string, string> = {};
  beforeAll(async () => {
    client = await at.fresh();
    const user = (id: string, email: string) => ({ user: { user_id: id, email, hash: client.mac(id) } });
    by["open"] = await client.begin("My xylophone is broken", user("u1", "Ada@Example.com"));
    by["claimed"] = await client.begin("The piano sounds wrong", user("u2", "ada@example.com.evil.test"));
    by["escalated"] = await client.begin(humanPlease);
    await client.patch(by["open"], { tags: ["Music", "urgent"] });
    await client.patch(by["claimed"], { status: "claimed", assigned_to: agent, tags: ["music"] });
    for (const [name, id] of Object.entries(by)) startedAt[name] = (await client.single(id)).started_at;
    at.app.clock.advance(1_000);
    // Texts are indexed shortly after they are stored.
    await eventually(async () => (await client.found("&q=xylophone")).length === 1);
  });
  const names = async (parameters: string) => {
    const ids = await client.found(parameters);
    return ids.map((id) => Object.entries(by).find(([, each]) => each === id)?.[0]);
  };

  it("4.1 filters by channel", async () => {
    expect(await names("&channel=api")).toEqual(["escalated", "claimed", "open"]);
    expect(await names("&channel=widget")).toEqual([]);
  });

  it.each(["open", "claimed", "escalated"])("4.1 filters by the status %s", async (status) => {
    expect(await names(`&status=${status}`)).toEqual([status]);
  });

  it("4.1 matches several tags with AND, ignoring case", async () => {
    expect(await names("&tag=music")).toEqual(["claimed", "open"]);
    expect(await names("&tag=MUSIC&tag=urgent")).toEqual(["open"]);
    expect(await names("&tag=%20urgent%20")).toEqual(["open"]);
    expect(await names("&tag=music&tag=escalated")).toEqual([]);
    expect(await names("&tag=mus")).toEqual([]);
  });

  it("4.1 treats a repeated tag as one", async () => {
    expect(await names("&tag=music&tag=music")).toEqual(["claimed", "open"]);
  });

  it("4.1 excludes conversations created at since, and includes those a millisecond later", async () => {
    const start = startedAt["claimed"] ?? "";
    expect(await names(`&since=${start}`)).toEqual(["escalated"]);
    const before = new Date(Date.parse(start) - 1).toISOString();
    expect(await names(`&since=${before}`)).toEqual(["escalated", "claimed"]);
  });

  it("4.1 excludes conversations created at until, and includes those a millisecond before", async () => {
    const start = startedAt["claimed"] ?? "";
    expect(await names(`&until=${start}`)).toEqual(["open"]);
    const after = new Date(Date.parse(start) + 1).toISOString();
    expect(await names(`&until=${after}`)).toEqual(["claimed", "open"]);
  });

  it("4.1 combines since and until, and finds nothing between equal ones", async () => {
    const [open = "", escalated = ""] = [startedAt["open"], startedAt["escalated"]];
    expect(await names(`&since=${open}&until=${escalated}`)).toEqual(["claimed"]);
    expect(await names(`&since=${open}&until=${open}`)).toEqual([]);
  });

  it("4.1 reads any ISO 8601 instant or date", async () => {
    const start = startedAt["open"] ?? "";
    const ms = Date.parse(start) - minuteMs;
    const zoned = new Date(ms + 2 * 60 * minuteMs).toISOString().replace("Z", "");
    for (const since of [
      new Date(ms).toISOString(),
      new Date(ms).toISOString().replace("Z", "+00:00"),
      `${zoned}+02:00`,
      `${zoned}+0200`,
      `${zoned}+02`,
      start.slice(0, 10),
      new Date(ms).toISOString().replace(/\.\d+Z$/, "Z"),
      new Date(ms).toISOString().replace(".", ","),
      `${start.slice(0, 10)}t00:00:00z`,
      `${start.slice(0, 10)}T00:00`,
      "0001-01-01",
      new Date(ms).toISOString().replaceAll(/[-:]/g, ""),
      `${zoned.replaceAll(/[-:]/g, "")}+0200`,
      start.slice(0, 10).replaceAll("-", ""),
      start.slice(0, 7),
      start.slice(0, 4),
      // The clock is at 14 May 2031.
      "2031-W20-3",
      "2031W203",
      "2031-W20",
      "2031W20",
      "2031-134",
      "2031134",
      "2031-134T00:00:00Z",
      "2031W203T0000Z",
      "2031-05-13T24:00Z",
      "2031-05-13T23.5-00:15",
    ]) {
      expect([since, (await names(`&since=${encodeURIComponent(since)}`)).length]).toEqual([since, 3]);
    }
    // An unencoded plus sign arrives as a space.
    expect((await names(`&since=${zoned}+02:00`)).length).toBe(3);
    for (const since of ["9999-12-31T23:59:59.999Z", "2031-W20-4", "2031135", "20310515", "2031-06", "2031W21"]) {
      expect([since, await names(`&since=${since}`)]).toEqual([since, []]);
    }
  });

  it("4.1 searches the messages for all words, ignoring case and accents", async () => {
    expect(await names("&q=XYLOPHONE%20broken")).toEqual(["open"]);
    expect(await names("&q=xyl%C3%B6phone")).toEqual(["open"]);
    expect(await names("&q=xylophone%20piano")).toEqual([]);
    expect(await names("&q=nothing-has-this-word")).toEqual([]);
  });

  it("4.1 treats quoted words as a phrase", async () => {
    expect(await names(`&q=${encodeURIComponent('"piano sounds"')}`)).toEqual(["claimed"]);
    expect(await names(`&q=${encodeURIComponent('"sounds piano"')}`)).toEqual([]);
  });

  it.each([
    '"',
    '"""',
    "*",
    "-",
    "a OR",
    "NEAR(",
    "x AND (",
    "'; drop table messages; --",
    "+",
    "@",
    "~",
    "\u0000",
    "%",
  ])("4.1 treats %j in q as text, not as syntax", async (q) => {
    const { status } = await client.list(`&q=${encodeURIComponent(q)}`);
    expect(status).toBe(200);
  });

  it("4.1 finds the words of the bot and of agents, too", async () => {
    const id = await client.begin();
    await client.post(`/v1/conversations/${id}/messages`, { content: "The marimba is fixed", author_email: agent });
    at.app.clock.advance(1_000);
    await expect.poll(() => client.found("&q=marimba")).toEqual([id]);
    await client.remove(id);
    expect(await client.found("&q=marimba")).toEqual([]);
  });

  it("4.1 does not search internal notes", async () => {
    await client.post(`/v1/conversations/${by["open"]}/notes`, { content: "The harpsichord is in the cellar" });
    at.app.clock.advance(1_000);
    await client.post(`/v1/conversations/${by["open"]}/messages`, { content: "A timpani", author_email: agent });
    at.app.clock.advance(1_000);
    await expect.poll(() => client.found("&q=timpani")).toEqual([by["open"]]);
    expect(await client.found("&q=harpsichord")).toEqual([]);
    await client.patch(by["open"] ?? "", { status: "open" });
  });

  it("4.1 finds a customer by the complete address, ignoring case", async () => {
    expect(await names("&email=ada@example.com")).toEqual(["open"]);
    expect(await names("&email=ADA@EXAMPLE.COM")).toEqual(["open"]);
    for (const part of [
      "ada",
      "ada@example.co",
      "%25",
      "ada@example.com%25",
      "nobody@example.com",
      "_da@example.com",
    ]) {
      expect([part, await names(`&email=${part}`)]).toEqual([part, []]);
    }
  });

  it("4.1 combines all filters with AND", async () => {
    expect(
      await names("&channel=api&status=open&tag=music&q=xylophone&email=ada@example.com&sla_state=in_compliance"),
    ).toEqual(["open"]);
    expect(await names("&channel=api&status=claimed&tag=music&q=xylophone")).toEqual([]);
  });

  it("4.1 filters by the current SLA state", async () => {
    const other = await at.fresh();
    const id = await other.begin();
    const state = async () => {
      const found = [];
      for (const each of ["in_compliance", "at_risk", "breached"]) {
        if ((await other.found(`&sla_state=${each}`)).includes(id)) found.push(each);
      }
      return found;
    };
    at.app.clock.advance(48 * minuteMs - 1);
    expect(await state()).toEqual(["in_compliance"]);
    at.app.clock.advance(1);
    expect(await state()).toEqual(["at_risk"]);
    at.app.clock.advance(12 * minuteMs);
    expect(await state()).toEqual(["breached"]);
    expect((await other.list()).body.conversations[0]?.sla_state).toBe("breached");
  });
});

eachContract("4.10 pages", (at) => {
  const idsOf = (body: { readonly conversations: readonly { readonly id: string }[] }) =>
    body.conversations.map(({ id }) => id);

  it("4.10.1 returns each conversation once by its cursors, while others are created and changed", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 7; i += 1) await client.begin();
    const before = await client.found("&limit=100");
    const { ids, pages } = await walk(
      (cursor) => client.list(`&limit=2${cursor}`),
      idsOf,
      async () => {
        await client.begin();
        await client.patch(before[4] ?? "", { priority: "high" });
      },
    );
    expect(ids).toEqual(before);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 2, 1]);
  });

  it("4.10.1 skips nothing when conversations of the previous page are deleted meanwhile", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 6; i += 1) await client.begin();
    const before = await client.found("&limit=100");
    const first = await client.list("&limit=2");
    for (const id of idsOf(first.body)) await client.remove(id);
    const rest = await walk(
      (cursor) => client.list(`&limit=2${cursor || `&cursor=${first.body.pagination.next_cursor}`}`),
      idsOf,
    );
    expect([...idsOf(first.body), ...rest.ids]).toEqual(before);
  });

  it("4.10.1 separates conversations created in the same millisecond", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 5; i += 1) await client.ask();
    const { ids } = await walk((cursor) => client.list(`&limit=1${cursor}`), idsOf);
    expect(ids).toEqual(await client.found());
    expect(new Set(ids).size).toBe(5);
  });

  it("4.10.1 accepts another page size with each cursor", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 5; i += 1) await client.begin();
    const { body } = await client.list("&limit=1");
    const rest = await client.list(`&limit=4&cursor=${body.pagination.next_cursor}`);
    expect([...idsOf(body), ...idsOf(rest.body)]).toEqual(await client.found());
    expect(rest.body.pagination.has_more).toBe(false);
  });

  it("4.10.1 returns has_more false if exactly the limit is left", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 2; i += 1) await client.begin();
    expect((await client.list("&limit=2")).body.pagination.has_more).toBe(false);
    expect((await client.list("&limit=1")).body.pagination.has_more).toBe(true);
  });

  it("4.10.2 returns an empty page for the last page's cursor, repeatedly", async () => {
    const client = await at.fresh();
    await client.begin();
    let { next_cursor: cursor } = (await client.list()).body.pagination;
    for (let i = 0; i < 3; i += 1) {
      const { status, body } = await client.list(`&cursor=${cursor}`);
      expect([status, body.conversations, body.pagination.has_more]).toEqual([200, [], false]);
      cursor = body.pagination.next_cursor;
    }
  });

  it("4.10.2 returns a cursor even with an empty list, which leads to an empty page", async () => {
    const client = await at.fresh();
    const { body } = await client.list();
    expect(body.pagination).toEqual({ next_cursor: expect.stringMatching(/^cur_/), has_more: false });
    const after = await client.list(`&cursor=${body.pagination.next_cursor}`);
    expect([after.status, after.body.conversations]).toEqual([200, []]);
  });

  it("4.10 accepts a cursor with the same filters only, in any order and spelling", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 3; i += 1) await client.patch(await client.begin(), { tags: ["a", "b"] });
    const { next_cursor: cursor } = (await client.list("&limit=1&tag=a&status=open")).body.pagination;
    expect((await client.list(`&cursor=${cursor}&status=open&tag=a&limit=1`)).status).toBe(200);
    for (const others of [
      "",
      "&tag=a",
      "&status=open",
      "&tag=b&status=open",
      "&tag=a&status=claimed",
      "&tag=a&status=open&q=x",
      "&tag=a&status=open&since=2020-01-01",
      "&tag=a&status=open&email=a@b.c",
      "&tag=a&status=open&channel=api",
      "&tag=a&status=open&sla_state=breached",
      "&tag=a&tag=b&status=open",
    ]) {
      const { status, body } = await client.list(`${others}&cursor=${cursor}`);
      expect([others, status, body.code]).toEqual([others, 422, "invalid_cursor"]);
    }
  });

  it("4.10 binds the last cursor to its filters, too", async () => {
    const client = await at.fresh();
    const { next_cursor: cursor } = (await client.list("&tag=none")).body.pagination;
    expect((await client.list(`&cursor=${cursor}`)).body.code).toBe("invalid_cursor");
  });

  it("4.10 refuses a cursor that it did not issue", async () => {
    const client = await at.fresh();
    for (let i = 0; i < 2; i += 1) await client.begin();
    const { next_cursor: own } = (await client.list("&limit=1")).body.pagination;
    const flipped = `${own.slice(0, 12)}${own[12] === "A" ? "B" : "A"}${own.slice(13)}`;
    const { next_cursor: foreign } = (await at.client.list("&limit=1")).body.pagination;
    const { next_cursor: documents } = (await client.get("/v1/documents")).body.pagination;
    for (const cursor of [
      "",
      "x",
      "cur_",
      "cur_eyJhdCI6MX0",
      own.slice(4),
      own.slice(0, -1),
      `${own}A`,
      `${own}=`,
      own.toUpperCase(),
      flipped,
      foreign,
      documents,
      `cur_${"A".repeat(5_000)}`,
    ]) {
      const { status, body } = await client.list(`&limit=1&cursor=${encodeURIComponent(cursor)}`);
      expect([cursor, status, body.code]).toEqual([cursor, 422, "invalid_cursor"]);
    }
    expect((await client.list(`&cursor=${own}&cursor=${own}`)).body.code).toBe("invalid_cursor");
  });

  it("4.10.3 limits the pages of every list to a hundred", async () => {
    const { client } = at;
    const id = await client.begin();
    for (const path of [
      `/v1/conversations?workspace_id=${client.id}&`,
      `/v1/conversations/${id}/messages?`,
      "/v1/documents?",
    ]) {
      expect((await client.get(`${path}limit=100`)).status).toBe(200);
      const over = await client.get(`${path}limit=101`);
      expect([over.status, over.body.code]).toEqual([422, "invalid_parameter"]);
    }
  });
});
