import { useEffect, useRef, useState } from "preact/hooks";
import { CopyField } from "#web/dashboard/ui/copy.tsx";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import type { DashboardPage } from "#web/dashboard/page.ts";
import type { Values } from "#web/dashboard/pages/settings/setting-fields.tsx";
import { SettingsForm } from "#web/dashboard/pages/settings/setting-fields.tsx";
import type { SettingsList } from "#web/dashboard/pages/settings/settings-api.ts";
import { loadSettings } from "#web/dashboard/pages/settings/settings-api.ts";
import { appearanceSpecs, chatSpecs } from "#web/dashboard/pages/settings/specs.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { contrastOf } from "./contrast.ts";

export const widgetPage: DashboardPage = {
  path: "widget",
  label: "Widget",
  about: "The chat on your website: its look, and the code to embed it.",
  group: "Channels",
  icon: icons.widget,
  roles: ["admin", "viewer"],
  render: () => <WidgetPage />,
};

function WidgetPage() {
  const resource = useResource(loadSettings, []);
  const { workspace, public_url: url } = useDashboard().me.value;
  const snippet = `<script src="${url}/widget.js" data-workspace="${workspace.id}" async></script>`;
  return (
    <>
      <PageHead title="Widget" lead="The chat on your website. Changes are live within a second." />
      <Loaded of={resource}>{(list) => <Appearance list={list} changed={resource.set} />}</Loaded>
      <Section title="On your website">
        <CopyField
          label="Code for your pages"
          value={snippet}
          hint="Paste it before the closing body tag. The chat button appears in the lower corner."
        />
        <CopyField label="Chat page" value={`${url}/chat/${workspace.id}`} hint="A page of its own, to link to." />
      </Section>
      <Section title="Websites, visitors and files">
        <Loaded of={resource}>{(list) => <SettingsForm list={list} changed={resource.set} specs={chatSpecs} />}</Loaded>
      </Section>
    </>
  );
}

function Appearance(props: { readonly list: SettingsList; readonly changed: (list: SettingsList) => void }) {
  const [values, setValues] = useState<Values>();
  return (
    <Section title="Look">
      <div class="with-preview">
        <SettingsForm {...props} specs={appearanceSpecs}>
          {(form) => <Watch values={form.values} changed={setValues} />}
        </SettingsForm>
        {values !== undefined && <Preview values={values} botName={String(props.list.settings["bot_name"]?.value)} />}
      </div>
    </Section>
  );
}

/** Sends each change to the preview, and shows the contrast of the colour. */
function Watch({ values, changed }: { readonly values: Values; readonly changed: (values: Values) => void }) {
  useEffect(() => changed(values), [values]);
  const ratio = contrastOf(String(values["widget.color"]));
  if (ratio === undefined) return null;
  const shown = `${ratio.toFixed(1)} : 1`;
  return ratio >= 4.5 ? (
    <p class="hint">White text on this colour has a contrast of {shown}.</p>
  ) : (
    <Callout>
      <p>
        White text on this colour has a contrast of {shown}, less than 4.5 : 1. The chat shows dark text on it instead.
      </p>
    </Callout>
  );
}

/** The real widget, with values that are not saved yet. It cannot be used, so that no conversation begins. */
function Preview({ values, botName }: { readonly values: Values; readonly botName: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const show = (): void => {
    // Events of the frame's own window are known to the widget as such.
    const page = frame.current?.contentWindow as (Window & typeof globalThis) | null | undefined;
    if (!page) return;
    const detail = {
      title: values["widget.title"],
      greeting: values["widget.greeting"],
      color: values["widget.color"],
      botName,
    };
    page.document.dispatchEvent(new page.CustomEvent("parley:preview", { detail }));
    page.document.dispatchEvent(new page.CustomEvent("parley:open"));
  };
  useEffect(show, [values]);
  return (
    <iframe
      ref={frame}
      class="widget-preview"
      title="Preview of the chat"
      src="/dashboard/widget-preview"
      inert
      onLoad={show}
    />
  );
}
