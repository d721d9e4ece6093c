import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { takeDroppedFiles } from "#web/shared/dropped-files.ts";
import { Button, FileName, Icon } from "#web/shared/ui/elements.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { ProgressBar } from "#web/dashboard/ui/marks.tsx";
import type { Uploads } from "./uploads.ts";

const accepted = ".md,.markdown,.txt,.text,.html,.htm,.xhtml,.pdf,.docx,.csv,.json";

/** Takes files that are dropped or chosen, and shows how far each is sent. */
export function DropZone({ uploads }: { readonly uploads: Uploads }) {
  const { list, add, dismiss } = uploads;
  const [audience, setAudience] = useState<readonly string[]>([]);
  const zone = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const take = useRef((_files: Iterable<File>): void => undefined);
  take.current = (files) => add(files, audience);
  useLayoutEffect(() => {
    if (zone.current !== null) takeDroppedFiles(zone.current, zone.current, (files) => take.current(files));
    // The browser would open a file that is dropped beside the zone.
    const ignore = (event: DragEvent): void => event.preventDefault();
    addEventListener("dragover", ignore);
    addEventListener("drop", ignore);
    return () => {
      removeEventListener("dragover", ignore);
      removeEventListener("drop", ignore);
    };
  }, []);
  return (
    <div class="drop-zone" ref={zone}>
      <Icon name={icons.upload} />
      <p>
        Drop files here, or <Button label="choose files" kind="link-button" onClick={() => input.current?.click()} />
      </p>
      <p class="hint">Markdown, text, HTML, PDF, Word, CSV or JSON, at most 25 MB each.</p>
      <input
        ref={input}
        type="file"
        class="unseen"
        multiple
        accept={accepted}
        tabIndex={-1}
        aria-label="Files"
        onChange={({ currentTarget }) => {
          take.current([...(currentTarget.files ?? [])]);
          // The same file may be chosen again.
          currentTarget.value = "";
        }}
      />
      <details>
        <summary>Only for some customers</summary>
        <TagsField
          of={{ name: "audience", value: audience, set: setAudience, errors: {} }}
          label="Audience tags of the next files"
          hint="Only customers with one of these tags get answers from the files. Without a tag, everyone does."
          maxLength={64}
          maxItems={50}
        />
      </details>
      {list.length > 0 && (
        <ul class="uploads" aria-label="Files that are being sent">
          {list.map((upload) => (
            <li key={upload.number}>
              <FileName name={upload.file.name} />
              {upload.error === null ? (
                <ProgressBar label={upload.file.name} share={upload.share} />
              ) : (
                <span class="field-error" role="alert">
                  {upload.error}
                </span>
              )}
              {upload.error !== null && (
                <Button
                  label={`Dismiss ${upload.file.name}`}
                  kind="icon"
                  shape="close"
                  onClick={() => dismiss(upload)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
