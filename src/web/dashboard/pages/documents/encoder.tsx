import { api } from "#web/dashboard/api.ts";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import { useResource } from "#web/dashboard/ui/resource.tsx";

/** The answer of `GET /admin/v1/documents/encoder`. */
interface Encoder {
  readonly model: string;
  readonly dimensions: number;
  readonly prefixes: string;
  readonly separation: number | null;
  readonly fit: boolean;
  readonly calibrated_at: string;
}

/** Says how well the embedding server tells the workspace's passages apart. Shows nothing without a server. */
export function EncoderNotice() {
  const encoder = useResource(
    async () => (await api.get<{ readonly encoder: Encoder | null }>("documents/encoder")).encoder,
    [],
  );
  if (encoder.data === undefined || encoder.data === null) return null;
  const { model, dimensions, prefixes, fit, calibrated_at: at } = encoder.data;
  return (
    <Callout tone={fit ? "good" : "bad"}>
      <p>
        Passages are found by meaning with {model} ({dimensions} numbers, prefixes: {prefixes}).{" "}
        {resultText(encoder.data)} Calibrated on {at.slice(0, 10)}.
      </p>
    </Callout>
  );
}

function resultText({ separation, fit }: Encoder): string {
  if (separation === null) return "There are too few passages to calibrate it, so it only orders passages.";
  const share = `${Math.round(separation * 100)} %`;
  return fit
    ? `It tells your own passages apart in ${share}.`
    : `It tells your own passages apart in ${share} only, so words alone answer. Use a model for search in the language of your documents.`;
}
