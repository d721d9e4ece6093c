import type { TypesenseOptions } from "#store/typesense-client.ts";
import { startFakeTypesense } from "./fake-typesense.ts";

export interface TypesenseServer {
  readonly options: TypesenseOptions;
  /** What in the requests so far is not as the API's description has it; known of the imitation only. */
  mistakes(): readonly string[];
  close(): Promise<void>;
}

/** The server that `TYPESENSE_URL` or `TEST_TYPESENSE_URL` names, if either does, and otherwise an imitation. */
export async function typesenseServer(): Promise<TypesenseServer> {
  return namedTypesense() ?? imitation();
}

export function namedTypesense(): TypesenseServer | undefined {
  const env = (name: string): string | undefined => {
    const value = process.env[name];
    return value === "" ? undefined : value;
  };
  const url = env("TEST_TYPESENSE_URL") ?? env("TYPESENSE_URL");
  if (url === undefined) return undefined;
  const apiKey = env("TEST_TYPESENSE_API_KEY") ?? env("TYPESENSE_API_KEY") ?? "";
  return { options: { urls: url.split(","), apiKey }, mistakes: () => [], close: async () => undefined };
}

export async function imitation(): Promise<TypesenseServer> {
  const fake = await startFakeTypesense();
  return {
    options: { urls: [fake.url], apiKey: fake.apiKey },
    mistakes: () => fake.mistakes,
    close: () => fake.close(),
  };
}
