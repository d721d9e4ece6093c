import { useRef, useState } from "preact/hooks";
import { Avatar, Button } from "#web/shared/ui/elements.tsx";
import { messageOf } from "#web/shared/ui/notices.ts";
import { api } from "#web/dashboard/api.ts";
import { useDashboard } from "#web/dashboard/store.ts";

/** Edge of the stored picture, in pixels. */
const edge = 256;

/** The agent's picture, which customers see with their messages. */
export function Picture() {
  const { me, reloadMe, notices } = useDashboard();
  const { name, avatar_url: url } = me.value.agent;
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  async function run(change: () => Promise<unknown>, done: string): Promise<void> {
    setBusy(true);
    try {
      await change();
      await reloadMe();
      notices.done(done);
    } catch (error) {
      notices.problem(messageOf(error));
    } finally {
      setBusy(false);
    }
  }

  async function upload(file: File): Promise<void> {
    const form = new FormData();
    // The server says what is wrong with a file that cannot be drawn.
    form.set("file", await squareOf(file).catch(() => file), "picture");
    await api.upload("me/avatar", form, () => undefined);
  }

  return (
    <div class="picture">
      {url === null ? <Avatar name={name} /> : <img class="avatar" src={new URL(url).pathname} alt="Your picture" />}
      <div class="row-actions">
        <input
          ref={input}
          type="file"
          class="unseen"
          tabIndex={-1}
          aria-label="Picture"
          accept="image/png,image/jpeg,image/webp"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            // The same file can be chosen again.
            currentTarget.value = "";
            if (file !== undefined) void run(() => upload(file), "Picture saved.");
          }}
        />
        <Button
          label={url === null ? "Choose a picture" : "Replace the picture"}
          kind="secondary"
          disabled={isBusy}
          onClick={() => input.current?.click()}
        />
        {url !== null && (
          <Button
            label="Remove the picture"
            kind="plain"
            disabled={isBusy}
            onClick={() => void run(() => api.del("me/avatar"), "Picture removed.")}
          />
        )}
      </div>
    </div>
  );
}

/** The middle of the picture as a small square. What cameras add, such as the place, is left out. */
async function squareOf(file: File): Promise<Blob> {
  const picture = await createImageBitmap(file);
  const canvas = new OffscreenCanvas(edge, edge);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser cannot scale pictures.");
  const side = Math.min(picture.width, picture.height);
  const [left, top] = [(picture.width - side) / 2, (picture.height - side) / 2];
  context.drawImage(picture, left, top, side, side, 0, 0, edge, edge);
  return canvas.convertToBlob({ type: "image/png" });
}
