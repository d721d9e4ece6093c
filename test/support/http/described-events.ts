import { Ajv2020 } from "ajv/dist/2020.js";
import { describeWebhooks } from "#http/openapi/webhooks.ts";

interface Webhook {
  readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: object } } };
}

const webhooks = describeWebhooks() as Record<string, { readonly post: Webhook }>;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

/** How an event is unlike the API's description of it; empty where it is not. */
export function unlikeDescribed(event: { readonly type: string }): string {
  const schema = webhooks[event.type]?.post.requestBody.content["application/json"].schema ?? false;
  return ajv.validate(schema, event) ? "" : `${event.type}: ${ajv.errorsText()}`;
}
