import type { Clock } from "#runtime/clock.ts";
import type { ModelConfig } from "#config/environment.ts";
import type { PatientModel } from "./retrying-model.ts";
import { createPatientModel } from "./retrying-model.ts";
import { createProvider } from "./provider.ts";

/** The language model that the configuration names. Opens nothing yet: a provider that is down keeps no server from starting. */
export function createModel(config: ModelConfig, clock: Clock): PatientModel {
  return createPatientModel(createProvider(config), clock);
}

/** Has the model write a word. Resolves with what to show of it, throws `ModelFailure` with the mend. */
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
