interface Piece {
  readonly fits: (character: string) => boolean;
  readonly repeats: boolean;
}

const isDigit = (character: string): boolean => /^[0-9]$/.test(character);
const isLetter = (character: string): boolean => /^\p{L}$/u.test(character);

/** Longer texts fit no shape. */
const shapeCharactersMax = 100;

function piecesOf(shape: string): Piece[] {
  const pieces: Piece[] = [];
  for (const character of shape) {
    const last = pieces.at(-1);
    if (character === "+" && last !== undefined) pieces[pieces.length - 1] = { ...last, repeats: true };
    else if (character === "#") pieces.push({ fits: isDigit, repeats: false });
    else if (character === "@") pieces.push({ fits: isLetter, repeats: false });
    else if (character === "*") pieces.push({ fits: (each) => isDigit(each) || isLetter(each), repeats: false });
    else pieces.push({ fits: (each) => each.toLowerCase() === character.toLowerCase(), repeats: false });
  }
  return pieces;
}

/**
 * Whether a text fits a shape: # is a digit, @ a letter, * either, + after one of them means one or more; other characters
 * match themselves, case-insensitively. Takes time proportional to the product of both lengths, since all alternatives are
 * followed at once.
 */
export function fitsShape(text: string, shape: string): boolean {
  const characters = [...text];
  if (characters.length === 0 || characters.length > shapeCharactersMax) return false;
  const pieces = piecesOf(shape);
  let places = new Set([0]);
  for (const character of characters) {
    const next = new Set<number>();
    for (const place of places) {
      const piece = pieces[place];
      if (piece !== undefined && piece.fits(character)) {
        next.add(place + 1);
        if (piece.repeats) next.add(place);
      }
    }
    if (next.size === 0) return false;
    places = next;
  }
  return places.has(pieces.length);
}
