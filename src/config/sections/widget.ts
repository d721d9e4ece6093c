import { Type } from "typebox";
import { closed, text } from "./values.ts";

const uploadMb = (whose: string, byDefault: number) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Literal(false)], {
    description: `Megabytes of files that ${whose} may send in a UTC day; false: no limit. Default: ${byDefault}.`,
  });

export const widgetSchema = closed(
  {
    title: Type.Optional(text("Heading of the chat.", 80)),
    greeting: Type.Optional(text("What the chat says before the first question.", 500)),
    color: Type.Optional(Type.String({ pattern: "^#[0-9a-fA-F]{6}$", description: "Accent colour, #rrggbb." })),
    origins: Type.Optional(
      Type.Array(Type.String({ pattern: "^https?://[^/]+$", maxLength: 300 }), {
        maxItems: 200,
        description: "Sites that may embed the widget, such as https://shop.example; none: any site.",
      }),
    ),
    lead_capture: Type.Optional(
      Type.Enum(["off", "on_handover"], {
        description: "When an anonymous visitor is asked for name and e-mail address.",
      }),
    ),
    files: Type.Optional(Type.Boolean({ description: "Whether customers may send files in the chat." })),
    file_types: Type.Optional(
      Type.Array(Type.String({ pattern: "^[a-z]+/([a-z0-9][a-z0-9.+-]*|\\*)$", maxLength: 100 }), {
        maxItems: 100,
        description: "Media types of files that customers may send, such as image/* or application/pdf; none: any.",
      }),
    ),
    file_max_mb: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_024,
        description: "Size limit for a customer's file, if below FILES_MAX_MB.",
      }),
    ),
    visitor_mb_per_day: Type.Optional(uploadMb("one visitor", 200)),
    address_mb_per_day: Type.Optional(uploadMb("all visitors from one address", 1_000)),
    mb_per_day: Type.Optional(uploadMb("all visitors together", 10_000)),
  },
  "The chat on the website and the hosted chat page.",
);
