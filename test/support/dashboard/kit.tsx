import { render } from "preact";
import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { Dashboard } from "#web/dashboard/dashboard.tsx";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { addressOf } from "#web/dashboard/router.ts";
import type { Me } from "#web/dashboard/store.ts";
import { createDashboardStore, useCanWrite, useDashboard, useQuery } from "#web/dashboard/store.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CopyButton, CopyField } from "#web/dashboard/ui/copy.tsx";
import { CheckListField, SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { DurationField } from "#web/dashboard/ui/fields/duration.tsx";
import { SecretField } from "#web/dashboard/ui/fields/secret.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { ColourField, NumberField, TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import { FilterBar, FilterSearch, FilterSelect } from "#web/dashboard/ui/filters.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { MarkdownPreview } from "#web/dashboard/ui/markdown-preview.tsx";
import { Badge, Callout, ManagedByFile, ProgressBar, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { Card, PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, ShowMore, usePaged, useResource } from "#web/dashboard/ui/resource.tsx";
import type { JsonObject, JsonSchema } from "#web/dashboard/ui/schema-form/schema.ts";
import { withoutEmpty } from "#web/dashboard/ui/schema-form/schema.ts";
import { SchemaFields } from "#web/dashboard/ui/schema-form/schema-fields.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { Tabs } from "#web/dashboard/ui/tabs.tsx";

// A page with each component of the dashboard, for its tests and for authors of pages. Its server is in kit-server.ts.

interface Shop {
  readonly id: string;
  readonly name: string;
  readonly state: "good" | "bad" | "wait";
  readonly orders: number;
  readonly last_order_at: string | null;
}

const stateNames = { good: "Connected", bad: "Refused", wait: "Waiting" } as const;
const stateOptions = Object.entries(stateNames).map(([value, label]) => ({ value, label }));

function Lists() {
  const [state, setState] = useQuery("state");
  const [words, setWords] = useQuery("q");
  const shops = usePaged<Shop>((cursor) => api.page("shops", "shops", { state, q: words, cursor }), [state, words]);
  const [asked, setAsked] = useState<Shop>();
  const [isAdding, setAdding] = useState(false);
  const canWrite = useCanWrite();
  return (
    <>
      <Section
        title="Shops"
        lead="Places that sell."
        actions={
          canWrite && <Button label="Add a shop" kind="primary" shape={icons.plus} onClick={() => setAdding(true)} />
        }
      >
        <FilterBar>
          <FilterSearch label="Search shops" value={words} set={setWords} />
          <FilterSelect label="State" all="All states" options={stateOptions} value={state} set={setState} />
        </FilterBar>
        <Loaded of={shops}>
          {(rows) => (
            <>
              <DataTable
                caption="Shops"
                rows={rows}
                rowKey={({ id }) => id}
                empty={<p class="soft">No shop matches.</p>}
                columns={[
                  { header: "Shop", cell: ({ id, name }) => <a href={addressOf("kit", id)}>{name}</a> },
                  { header: "State", cell: (row) => <Badge tone={row.state}>{stateNames[row.state]}</Badge> },
                  { header: "Orders", align: "end", cell: ({ orders }) => orders },
                  { header: "Last order", cell: (row) => <RelativeTime at={row.last_order_at} /> },
                  {
                    header: "Actions",
                    align: "end",
                    isHeaderHidden: true,
                    cell: (row) => (
                      <div class="row-actions">
                        <Button
                          label={`Delete ${row.name}`}
                          kind="icon"
                          shape={icons.trash}
                          disabled={!canWrite}
                          onClick={() => setAsked(row)}
                        />
                      </div>
                    ),
                  },
                ]}
              />
              <ShowMore of={shops} />
            </>
          )}
        </Loaded>
        <Button label="Load again" kind="secondary" shape={icons.reload} onClick={() => void shops.reload()} />
      </Section>
      {asked !== undefined && (
        <ConfirmDialog
          title={`Delete ${asked.name}?`}
          confirm="Delete"
          typed={asked.name}
          done="Shop deleted."
          run={async () => {
            await api.del(`shops/${asked.id}`);
            await shops.reload();
          }}
          closed={() => setAsked(undefined)}
        >
          <p>Its orders are lost. This cannot be undone.</p>
        </ConfirmDialog>
      )}
      {isAdding && (
        <FormDialog
          title="Add a shop"
          label="Add"
          done="Shop added."
          initial={{ name: "", email: "" }}
          send={(shop) => api.post("shops", shop)}
          closed={() => setAdding(false)}
        >
          {(form) => (
            <>
              <TextField of={form.field("name")} label="Name" required />
              <TextField of={form.field("email")} label="E-mail address" type="email" required />
            </>
          )}
        </FormDialog>
      )}
    </>
  );
}

interface Settings {
  readonly name: string;
  readonly email: string;
  readonly count: number | null;
  readonly text: string;
  readonly kind: string;
  readonly isOpen: boolean;
  readonly days: readonly string[];
  readonly tags: readonly string[];
  readonly token: string | undefined;
  readonly colour: string;
  readonly opens: string;
  readonly keep: number | null;
}

function Fields({ isManaged }: { readonly isManaged: boolean }) {
  const form = useForm<Settings>({
    name: "Corner shop",
    email: "",
    count: 3,
    text: "Open **daily**.",
    kind: "shop",
    isOpen: true,
    days: ["mon"],
    tags: ["old"],
    token: undefined,
    colour: "#1f6feb",
    opens: "09:30",
    keep: 86_400,
  });
  const { field } = form;
  return (
    <Section title={isManaged ? "A form of the configuration file" : "A form"}>
      <Form form={form} send={(values) => api.put("shop", values)} label="Save" done="Saved." isManaged={isManaged}>
        <TextField of={field("name")} label="Name" hint="Customers see it." required maxLength={80} />
        <TextField of={field("email")} label="E-mail address" type="email" optional />
        <NumberField of={field("count")} label="Chairs" unit="chairs" min={0} />
        <TextAreaField of={field("text")} label="Text" />
        <MarkdownPreview
          label="Preview of the text"
          text={form.values.text}
          parse={(text) => api.post("markdown", { text })}
        />
        <SelectField
          of={field("kind")}
          label="Kind"
          options={[
            { value: "shop", label: "Shop" },
            { value: "stall", label: "Stall" },
          ]}
        />
        <SwitchField of={field("isOpen")} label="Open" hint="Customers can order." />
        <CheckListField
          of={field("days")}
          label="Days"
          options={[
            { value: "mon", label: "Monday" },
            { value: "tue", label: "Tuesday", hint: "From noon." },
          ]}
        />
        <TagsField of={field("tags")} label="Tags" placeholder="Add a tag" />
        <SecretField of={field("token")} label="Token" isSet />
        <ColourField of={field("colour")} label="Colour" />
        <TextField of={field("opens")} label="Opens at" type="time" />
        <DurationField of={field("keep")} label="Keep orders" unit="seconds" />
      </Form>
    </Section>
  );
}

const schema: JsonSchema = {
  type: "object",
  required: ["token", "port"],
  properties: {
    token: { type: "string", description: "The bot's token." },
    port: { type: "integer", minimum: 1, maximum: 65_535 },
    transport: { enum: ["webhook", "polling"], description: "Default: webhook." },
    plus_addressing: { type: "boolean" },
    sent_folder: { anyOf: [{ type: "string", description: "Its name." }, { const: false }] },
    senders: { type: "array", items: { type: "string" } },
    parameters: { type: "object", patternProperties: { "^.*$": { type: "string" } } },
    smtp: { type: "object", properties: { host: { type: "string", default: "localhost" }, password: {} } },
  },
};

function Generated() {
  const form = useForm<{ readonly config: JsonObject }>({ config: { port: 993, sent_folder: "Sent" } });
  return (
    <Section title="A form of a schema">
      <Form form={form} label="Connect" send={({ config }) => api.put("account", { config: withoutEmpty(config) })}>
        <SchemaFields
          schema={schema}
          of={form.field("config")}
          secrets={["token", "smtp.password"]}
          secretsSet={["smtp.password"]}
        />
      </Form>
    </Section>
  );
}

function Marks() {
  const { data, ...resource } = useResource(() => api.get<{ readonly number: number }>("number"), []);
  return (
    <>
      <Section title="Marks">
        <Card title="States">
          <p class="row-actions">
            <Badge tone="good">Connected</Badge>
            <Badge tone="bad">Failed</Badge>
            <Badge tone="wait">Waiting</Badge>
            <Badge>Paused</Badge>
            <ManagedByFile />
          </p>
          <p>
            Account <code>acc_1</code> <CopyButton text="acc_1" label="Copy the id" kind="icon" />
          </p>
          <ProgressBar label="Upload of prices.pdf" share={0.4} />
        </Card>
      </Section>
      <Callout tone="wait">
        <p>
          The key is shown once. <a href="/dashboard/kit?part=fields">Read more</a>
        </p>
      </Callout>
      <Callout tone="bad">The webhook was disabled.</Callout>
      <CopyField label="Webhook address" value="https://shop.example/webhooks/telegram" hint="Paste it there." />
      <Section title="A number">
        <Loaded of={{ ...resource, data }}>{({ number }) => <p>The number is {number}.</p>}</Loaded>
        <Button label="Next number" kind="secondary" onClick={() => void resource.reload()} />
      </Section>
    </>
  );
}

function Kit({ id }: { readonly id: string | undefined }) {
  const [part, setPart] = useQuery("part");
  const { notices } = useDashboard();
  return (
    <>
      <PageHead
        title={id === undefined ? "Components" : `Shop ${id}`}
        lead="Each component of the dashboard."
        {...(id !== undefined && { back: { label: "Components", href: addressOf("kit") } })}
        actions={<Button label="Say hello" kind="secondary" onClick={() => notices.done("Hello.")} />}
      />
      {id === undefined && (
        <Tabs
          label="Components"
          current={part}
          choose={setPart}
          tabs={[
            { id: "lists", label: "Lists", render: () => <Lists /> },
            { id: "fields", label: "Fields", render: () => <Fields isManaged={false} /> },
            { id: "managed", label: "Managed", render: () => <Fields isManaged /> },
            { id: "schema", label: "Schema", render: () => <Generated /> },
            { id: "marks", label: "Marks", render: () => <Marks /> },
          ]}
        />
      )}
    </>
  );
}

const page = (path: string, label: string, group: DashboardPage["group"], icon: DashboardPage["icon"]) => ({
  path,
  label,
  about: "A page of the tests.",
  group,
  icon,
  roles: ["admin", "viewer"] as const,
  render: (id: string | undefined) => <Kit id={id} />,
});

const pages: readonly DashboardPage[] = [
  page("kit", "Components", "Overview", icons.home),
  page("documents", "Documents", "Knowledge", icons.documents),
  page("questions", "Try a question", "Knowledge", icons.question),
  page("channels", "Channels", "Channels", icons.channels),
  page("automation", "Automation", "Work", icons.automation),
  page("reports", "Reports", "Insight", icons.reports),
  page("api-keys", "API keys", "Workspace", icons.key),
];

async function start(place: Element): Promise<void> {
  const store = createDashboardStore(await api.get<Me>("me"), pages);
  render(<Dashboard store={store} />, place);
  store.router.start();
}

const root = document.querySelector("#dashboard");
if (root !== null) void start(root);
