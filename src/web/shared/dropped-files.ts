/** Takes files that are dropped on `place`: the browser would open them. During a drag `shows` has the class `dropping`. */
export function takeDroppedFiles(place: HTMLElement, shows: HTMLElement, take: (files: FileList) => void): void {
  place.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    shows.classList.add("dropping");
  });
  place.addEventListener("dragleave", () => shows.classList.remove("dropping"));
  place.addEventListener("drop", (event) => {
    shows.classList.remove("dropping");
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  });
}
