import type { Answerer } from "./contract.ts";

/** The tokens that workspaces use of the language model in a month. */
export interface ModelUsage {
  used(workspaceId: string): Promise<number>;
  /** `max`: the workspace's budget, to report once that it is spent. */
  add(workspaceId: string, tokens: number, max: number | null): Promise<void>;
}

/** Answers without the language model once the workspace has spent its tokens of the month. */
export function createBudgetedAnswerer({
  withModel,
  withoutModel,
  usage,
}: {
  readonly withModel: Answerer;
  readonly withoutModel: Answerer;
  readonly usage: ModelUsage;
}): Answerer {
  return {
    async answer(question, signal) {
      const { workspaceId, settings } = question;
      const max = settings.modelTokensPerMonth;
      if (max !== null && (await usage.used(workspaceId)) >= max) return withoutModel.answer(question, signal);
      const answer = await withModel.answer(question, signal);
      if (answer.tokensUsed > 0) await usage.add(workspaceId, answer.tokensUsed, max);
      return answer;
    },
  };
}
