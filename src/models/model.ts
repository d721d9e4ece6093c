import type { Clock } from "#runtime/clock.ts";
import type { ModelConfig } from "#config/models.ts";
import type { RetryingModel } from "./retrying-model.ts";
import { createRetryingModel } from "./retrying-model.ts";
import { createProvider } from "./provider.ts";

/** The configured language model. Opens no connection, so that the server starts while the provider is down. */
export function createModel(config: ModelConfig, clock: Clock): RetryingModel {
  return createRetryingModel(createProvider(config), clock);
}

/** Called by the command `doctor`: lets the model write a word. Throws `ModelFailure` with what to fix. */
export async function checkModel(config: ModelConfig, clock: Clock): Promise<string> {
  const model = createModel(config, clock);
  let text = "";
  const sink = {
    text: (delta: string): void => {
      text += delta;
    },
    restart: () => false,
  };
  const request = { system: "Reply with one word.", user: "Say: ready", temperature: 0, budgetMs: 20_000 };
  const { finish } = await model.write(request, sink, new AbortController().signal);
  return `${config.name} of ${config.provider} answers${finish === "refused" ? ", but refuses the simplest request" : ""}`;
}
