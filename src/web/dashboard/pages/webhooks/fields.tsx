import { eventTypes } from "#domain/event-types.ts";
import { CheckListField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { FormState } from "#web/dashboard/ui/form.tsx";
import { Badge } from "#web/dashboard/ui/marks.tsx";
import { eventMeanings } from "./event-meanings.ts";
import type { Webhook } from "./types.ts";

export function WebhookState({ of: { state } }: { readonly of: Webhook }) {
  if (state === "enabled") return <Badge tone="good">Enabled</Badge>;
  if (state === "failing") return <Badge tone="wait">Failing</Badge>;
  return <Badge tone="bad">Disabled</Badge>;
}

export interface WebhookValues {
  readonly url: string;
  readonly events: readonly string[];
}

export const WebhookFields = ({ form }: { readonly form: FormState<WebhookValues> }) => (
  <>
    <TextField
      of={form.field("url")}
      label="Address"
      type="url"
      placeholder="https://shop.example/hooks/parley"
      required
      maxLength={2_000}
    />
    <CheckListField
      of={form.field("events")}
      label="Events"
      options={eventTypes.map((value) => ({ value, label: value, hint: eventMeanings[value] }))}
    />
  </>
);
