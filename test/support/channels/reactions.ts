import type { EngineBench } from "../engine-bench.ts";

const agent = { email: "anna@test.example", name: "Anna" };

/** The stored reactions, such as `user 👍 Ada`. */
export const storedReactions = async ({ store }: EngineBench): Promise<readonly string[]> =>
  (await store.read.selectFrom("reactions").selectAll().orderBy("at").orderBy("emoji").execute()).map(
    ({ role, emoji, author_name }) => `${role} ${emoji} ${author_name}`,
  );

/** Reacts as an agent to the newest message of a customer; null: takes the reaction back. Waits for the platform call. */
export async function reactAsAgent(bench: EngineBench, emoji: string | null): Promise<void> {
  const { id: messageId, conversation_id: conversationId } = await bench.store.read
    .selectFrom("messages")
    .select(["id", "conversation_id"])
    .where("role", "=", "user")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  await bench.engine.postAgentMessage(bench.workspaceId, conversationId, { kind: "react", messageId, emoji }, agent);
  await bench.settle();
}
