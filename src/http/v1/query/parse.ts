import { audienceTags } from "#domain/workspace/audience.ts";
import { Problem } from "#domain/problem.ts";
import type { VerifiedUser } from "#domain/customer/user-token.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import type { Query } from "#conversations/answering/query.ts";
import type { Reader } from "#database/contract.ts";
import type { Caller } from "#http/v1/access/auth.ts";
import type { Resources } from "#http/v1/resources.ts";
import { verifyIdentity } from "./identity.ts";
import type { QueryBody } from "./schemas.ts";

const metadataCharsMax = 16_384;

/** Checks what the schema cannot, and turns the body into a query. Throws Problem. */
export async function parseQuery(
  { store, clock, tokenKeys }: Pick<Resources, "store" | "clock" | "tokenKeys">,
  caller: Caller,
  body: QueryBody,
  text: string,
): Promise<Query> {
  const { workspaceId } = caller;
  const { user } = body;
  const verified = await verifyIdentity(
    {
      userId: user?.user_id ?? body.user_id,
      hash: user?.hash,
      token: body.verification_token,
      userToken: user?.user_token,
    },
    () => tokenKeys(workspaceId),
    clock.now(),
  );
  if (body.metadata !== undefined && JSON.stringify(body.metadata).length > metadataCharsMax) {
    throw new Problem(
      "invalid_parameter",
      `metadata must be an object of at most ${metadataCharsMax} characters of JSON.`,
    );
  }
  checkAttributes(user, verified);
  const documentIds =
    body.document_ids === undefined ? undefined : await findDocuments(store.read, workspaceId, body.document_ids);
  const audience = body.audience === undefined ? undefined : audienceTags(body.audience);
  if (audience !== undefined) await checkAudience(store.read, caller, audience);
  return {
    workspaceId,
    text,
    ...(body.conversation_id === undefined ? {} : { conversationId: body.conversation_id }),
    ...(verified === null ? {} : userOf(verified, user)),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    ...(body.strictness === undefined ? {} : { strictness: body.strictness }),
    ...(body.top_k === undefined ? {} : { topK: body.top_k }),
    ...(body.temperature === undefined ? {} : { temperature: body.temperature }),
    ...(documentIds === undefined ? {} : { documentIds }),
    ...(audience === undefined ? {} : { audience }),
  };
}

/** Throws Problem without a question. */
export function textOf({ query, message }: QueryBody): string {
  const text = query ?? message;
  if (text === undefined) throw new Problem("missing_field", "query is required.");
  if (text.trim() === "") throw new Problem("invalid_parameter", "query must not be empty.");
  return text;
}

function checkAttributes(user: QueryBody["user"], verified: VerifiedUser | null): void {
  if (user?.attributes === undefined) return;
  if (verified === null) {
    throw new Problem(
      "verification_required",
      "user.attributes needs a verified user: put them into user.user_token, or send user.hash or verification_token.",
    );
  }
  if (user.user_token !== undefined) {
    throw new Problem(
      "verification_required",
      "user.attributes cannot be sent with user.user_token: put them into the token.",
    );
  }
}

/**
 * The name and e-mail address sent with a hash come from the server that has the secret. With a token they may come from a
 * browser, so they count as claims.
 */
function userOf(verified: VerifiedUser, user: QueryBody["user"]): Pick<Query, "user" | "claimed"> {
  const given = {
    ...(user?.name === undefined ? {} : { name: user.name }),
    ...(user?.email === undefined ? {} : { email: user.email }),
  };
  if (user?.user_token !== undefined) return { user: verified, claimed: given };
  const attributes = user?.attributes === undefined ? {} : { attributes: user.attributes };
  return { user: { ...verified, ...given, ...attributes } };
}

/** The documents that hold passages: files, and the pages of websites. Throws Problem document_not_found. */
async function findDocuments(db: Reader, workspaceId: string, ids: readonly string[]): Promise<readonly string[]> {
  const unfound = new Set(ids);
  const rows = await db
    .selectFrom("documents")
    .select(["id", "source"])
    .where("workspace_id", "=", workspaceId)
    .where("parent_id", "is", null)
    .where("id", "in", [...unfound])
    .execute();
  for (const { id } of rows) unfound.delete(id);
  const [missing] = unfound;
  if (missing !== undefined) {
    throw new Problem("document_not_found", `There is no document ${JSON.stringify(missing)} in this workspace.`);
  }
  const sites = rows.filter(({ source }) => source === "crawl").map(({ id }) => id);
  if (sites.length === 0) return ids;
  const pages = await db.selectFrom("documents").select("id").where("parent_id", "in", sites).execute();
  return [...ids, ...pages.map(({ id }) => id)];
}

/** Accepts tags that the settings or a document of the workspace have. Throws Problem invalid_audience. */
export async function checkAudience(
  db: Reader,
  { workspaceId, settings }: Caller,
  tags: readonly string[],
): Promise<void> {
  const { audiences } = storedSettings(settings);
  const inSettings = new Set(Object.keys(audiences).map((tag) => tag.trim().toLowerCase()));
  const others = tags.filter((tag) => !inSettings.has(tag));
  if (others.length === 0) return;
  const rows = await db
    .selectFrom("documents")
    .select("audience")
    .distinct()
    .where("workspace_id", "=", workspaceId)
    .execute();
  const onDocuments = new Set(rows.flatMap(({ audience }) => JSON.parse(audience) as readonly string[]));
  const unknown = others.find((tag) => !onDocuments.has(tag));
  if (unknown !== undefined) {
    throw new Problem(
      "invalid_audience",
      `audience: the workspace has no tag ${JSON.stringify(unknown)}, neither in its setting audiences nor on a document.`,
    );
  }
}
