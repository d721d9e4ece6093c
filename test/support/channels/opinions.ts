import type { EngineBench } from "../engine-bench.ts";
import { anna, answerOf, minuteMs } from "../engine-bench.ts";

export const surveysOn = { satisfactionSurvey: true } as const;

/** Lets the bot answer from documents: only such answers have thumbs. */
export function answerFromDocuments({ script }: Pick<EngineBench, "script">): void {
  script.answer = async () => answerOf("Every day.", { skillsFired: ["knowledge_search"] });
}

/** Resolves the only conversation, and waits for its survey. */
export async function resolveWithSurvey(bench: EngineBench): Promise<void> {
  const { id } = await bench.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
  await bench.engine.update(bench.workspaceId, id, { status: "resolved" }, anna);
  await bench.advance(minuteMs);
}

/** The customers' thumbs; null: taken back. */
export const thumbsOf = async ({ store }: EngineBench): Promise<readonly (string | null)[]> =>
  (await store.read.selectFrom("answer_feedback").select("value").execute()).map(({ value }) => value);

export const scoresOf = async ({ store }: EngineBench): Promise<readonly number[]> =>
  (await store.read.selectFrom("ratings").select("score").execute()).map(({ score }) => score);
