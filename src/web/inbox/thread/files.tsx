import { sizeText } from "#domain/files.ts";
import type { FileView } from "#http/inbox/wire.ts";
import { FileName, Icon } from "#web/shared/ui/elements.tsx";

/** The files of a message: pictures are shown, all others can only be saved. */
export const Files = ({ files }: { readonly files: readonly FileView[] }) => (
  <ul class="files">
    {files.map((file) => (
      <File key={file.id} {...file} />
    ))}
  </ul>
);

function File({ name, bytes, state, reason, url, preview }: FileView) {
  if (url === null) {
    const fetched = reason === null ? "Being fetched…" : `Not fetched yet: ${reason}`;
    return (
      <li class={state}>
        <Icon name={state === "failed" ? "alert" : "clock"} />
        <FileName name={name} />
        <span class="file-size">{state === "failed" ? `Not available: ${reason ?? ""}` : fetched}</span>
      </li>
    );
  }
  return (
    <li class={preview ? "picture" : undefined}>
      <a href={url} download={name} rel="noopener">
        {preview ? <img src={url} alt={name} loading="lazy" /> : <Icon name="page" />}
        <FileName name={name} />
        <span class="file-size">{bytes === null ? "" : sizeText(bytes)}</span>
      </a>
    </li>
  );
}
