import { beforeAll, expect, it } from "vitest";
import { agent, eachContract, shownNow, walk } from "../support/http/contract.ts";

eachContract("4.3 the messages of a conversation", (at) => {
  let id: string;
  beforeAll(async () => {
    id = await at.client.begin();
    for (let i = 1; i < 5; i += 1) await at.client.ask({ conversation_id: id, query: `Hello ${i}` });
  });
  const page = (parameters = "", conversation = id) =>
    at.client.get(`/v1/conversations/${conversation}/messages${parameters}`);
  const idsOf = (body: { readonly messages: readonly { readonly id: string }[] }) =>
    body.messages.map((each) => each.id);

  it("4.3 answers with messages and pagination, the messages as in the single fetch", async () => {
    const { status, body } = await page();
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(["messages", "pagination"]);
    expect(body.messages).toEqual((await at.client.single(id)).messages);
  });

  it("4.3 begins with the oldest message unless order is desc", async () => {
    const oldestFirst = idsOf((await page()).body);
    expect(oldestFirst.length).toBeGreaterThan(6);
    expect(idsOf((await page("?order=asc")).body)).toEqual(oldestFirst);
    expect(idsOf((await page("?order=desc")).body)).toEqual(oldestFirst.toReversed());
  });

  it.each(["asc", "desc"])("4.3 pages through all messages in order %s", async (order) => {
    const { ids, last } = await walk((cursor) => page(`?limit=3&order=${order}${cursor}`), idsOf);
    expect(ids).toEqual(idsOf((await page(`?order=${order}`)).body));
    const after = await page(`?order=${order}${last}`);
    expect([after.status, after.body.messages, after.body.pagination.has_more]).toEqual([200, [], false]);
  });

  it("4.3 neither repeats nor skips messages while new ones arrive", async () => {
    const conversation = await at.client.begin();
    for (let i = 0; i < 3; i += 1) await at.client.ask({ conversation_id: conversation });
    const before = idsOf((await page("?order=desc", conversation)).body);
    const { ids } = await walk(
      (cursor) => page(`?limit=2&order=desc${cursor}`, conversation),
      idsOf,
      async () => at.client.ask({ conversation_id: conversation }),
    );
    expect(ids).toEqual(before);
  });

  it("4.3 finds new messages with the last page's cursor", async () => {
    const conversation = await at.client.begin();
    const { next_cursor: cursor } = (await page("", conversation)).body.pagination;
    await at.client.post(`/v1/conversations/${conversation}/messages`, { content: "I am here", author_email: agent });
    const next = await page(`?cursor=${cursor}`, conversation);
    expect(next.body.messages.map(({ content }) => content)).toEqual(["I am here"]);
  });

  it("4.3 returns fifty by default", async () => {
    const conversation = await at.client.begin();
    for (let i = 0; i < 51; i += 1) {
      await at.client.post(`/v1/conversations/${conversation}/messages`, { content: `${i}`, author_email: agent });
    }
    const { body } = await page("", conversation);
    expect([body.messages.length, body.pagination.has_more]).toEqual([50, true]);
    expect((await page("?limit=100", conversation)).body.messages).toHaveLength(53);
    expect((await page("?limit=1", conversation)).body.messages).toHaveLength(1);
  });

  it.each([
    "?limit=0",
    "?limit=101",
    "?limit=",
    "?limit=x",
    "?order=up",
    "?order=ASC",
    "?order=",
    "?order=asc&order=desc",
  ])("4.3 refuses %s", async (parameters) => {
    const { status, body } = await page(parameters);
    expect([status, body.code]).toEqual([422, "invalid_parameter"]);
  });

  it("4.3 refuses the cursor of another conversation, order or list", async () => {
    const { next_cursor: cursor } = (await page("?limit=1")).body.pagination;
    const { next_cursor: ofList } = (await at.client.list("&limit=1")).body.pagination;
    const other = await at.client.begin();
    for (const answered of [
      await page(`?cursor=${cursor}`, other),
      await page(`?cursor=${cursor}&order=desc`),
      await page(`?cursor=${ofList}`),
      await page("?cursor="),
      await page("?cursor=cur_x"),
    ]) {
      expect([answered.status, answered.body.code]).toEqual([422, "invalid_cursor"]);
    }
  });

  it("4.3 answers 404 to an unknown conversation", async () => {
    expect((await page("", "conv_none")).body.code).toBe("conversation_not_found");
    expect((await page("?cursor=x&limit=0", "conv_none")).status).toBeGreaterThanOrEqual(400);
  });

  it.each(["open", "escalated"])(
    "4.3 accepts an agent's reply to %s conversations, which the agent thereby claims",
    async (status) => {
      const conversation = await at.client.in(status);
      const answered = await at.client.post(`/v1/conversations/${conversation}/messages`, {
        content: "We will look into it.",
        author_email: "Kim@Example.com",
      });
      expect(answered.status).toBe(201);
      expect(answered.body).toMatchObject({
        role: "agent",
        content: "We will look into it.",
        author: agent,
        created_at: shownNow(at.app),
      });
      expect(await at.client.single(conversation)).toMatchObject({ status: "claimed", assigned_to: agent });
    },
  );

  it("4.3 keeps a conversation assigned to its agent when a colleague replies", async () => {
    const conversation = await at.client.in("claimed");
    const body = { content: "From me as well", author_email: "lee@example.com" };
    expect((await at.client.post(`/v1/conversations/${conversation}/messages`, body)).status).toBe(201);
    expect(await at.client.single(conversation)).toMatchObject({ status: "claimed", assigned_to: agent });
  });

  it("4.3 refuses a reply to an archived conversation", async () => {
    const conversation = await at.client.in("archived");
    const body = { content: "Too late", author_email: agent };
    const refused = await at.client.post(`/v1/conversations/${conversation}/messages`, body);
    expect([refused.status, refused.body.code]).toEqual([409, "invalid_transition"]);
  });

  it.each([
    [400, "missing_field", { content: "x" }],
    [400, "missing_field", { author_email: agent }],
    [400, "missing_field", { content: null, author_email: agent }],
    [422, "invalid_parameter", { content: "", author_email: agent }],
    [422, "invalid_parameter", { content: " \n\t", author_email: agent }],
    [422, "invalid_parameter", { content: {}, author_email: agent }],
    [422, "invalid_parameter", { content: "x", author_email: "kim" }],
    [422, "invalid_parameter", { content: "x", author_email: 5 }],
  ])("4.3 answers %i %s to the reply %j", async (status, code, body) => {
    const answered = await at.client.post(`/v1/conversations/${id}/messages`, body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
  });
});
