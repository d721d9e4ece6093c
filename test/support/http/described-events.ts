import { Ajv2020 } from "ajv/dist/2020.js";
import { describeWebhooks } from "#http/openapi/webhooks.ts";

interface Webhook {
  readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: object } } };
}

const webhooks = describeWebhooks() as Record<string, { readonly post: Webhook }>;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

/** Returns how an event differs from the API's description of it; empty if it matches. */
export function differencesFromDescription(event: { readonly type: string }): string {
  const schema = webhooks[event.type]?.post.requestBody.content["application/json"].schema ?? false;
  return ajv.validate(schema, event) ? "" : `${event.type}: ${ajv.errorsText()}`;
}
