/** Numbers of a vector. */
export const width = 384;
const inner = 1_536;
const vocabulary = 30_522;
const positions = 512;
const layerCount = 6;
/** Weights that share a scale. */
const blockSize = 32;

export interface Linear {
  /** Rows of the input, columns of the output. */
  readonly weight: Float32Array;
  readonly rows: number;
  readonly columns: number;
  readonly bias: Float32Array;
}

export interface Norm {
  readonly gain: Float32Array;
  readonly bias: Float32Array;
}

export interface Layer {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly output: Linear;
  readonly outputNorm: Norm;
  readonly expand: Linear;
  readonly contract: Linear;
  readonly contractNorm: Norm;
}

export interface Weights {
  /** A row for each token; half as exact as the others, since they take most of the memory. */
  readonly words: Float16Array;
  /** A row for each position, and one for the only type of a token. */
  readonly positions: Float32Array;
  readonly type: Float32Array;
  readonly norm: Norm;
  readonly layers: readonly Layer[];
}

/** Reads `model_q4.onnx_data`: plain numbers first, then the matrices, four bits for each weight. Throws for another file. */
export function readWeights(file: Buffer<ArrayBuffer>): Weights {
  let at = 0;
  const bytes = (length: number): Buffer<ArrayBuffer> => {
    at += length;
    if (at > file.length) throw new Error("the file of weights is too short");
    return file.subarray(at - length, at);
  };
  const numbers = (count: number): Float32Array => {
    const { buffer, byteOffset } = bytes(count * 4);
    return new Float32Array(buffer.slice(byteOffset, byteOffset + count * 4));
  };
  const norm = (): Norm => ({ gain: numbers(width), bias: numbers(width) });
  const linear = (rows: number, columns: number, bias: Float32Array): Linear => ({
    weight: unpacked(bytes((rows * columns) / 2), numbers((rows * columns) / blockSize), rows, columns),
    rows,
    columns,
    bias,
  });
  const words = Float16Array.from(numbers(vocabulary * width));
  const [type] = [numbers(width), numbers(width)];
  const places = numbers(positions * width);
  const first = norm();
  const plain = Array.from({ length: layerCount }, () => ({
    biases: [numbers(width), numbers(width), numbers(width), numbers(width)] as const,
    outputNorm: norm(),
    expand: numbers(inner),
    contract: numbers(width),
    contractNorm: norm(),
  }));
  const layers = plain.map(({ biases: [query, key, value, output], outputNorm, expand, contract, contractNorm }) => ({
    query: linear(width, width, query),
    key: linear(width, width, key),
    value: linear(width, width, value),
    output: linear(width, width, output),
    outputNorm,
    expand: linear(width, inner, expand),
    contract: linear(inner, width, contract),
    contractNorm,
  }));
  if (at !== file.length) throw new Error("the file of weights is too long");
  return { words, positions: places, type, norm: first, layers };
}

/** The file has each column's weights in a row, two in a byte, the lower half first. They are stored as 0 to 15. */
function unpacked(packed: Uint8Array, scales: Float32Array, rows: number, columns: number): Float32Array {
  const weight = new Float32Array(rows * columns);
  for (let column = 0; column < columns; column += 1) {
    for (let row = 0; row < rows; row += 1) {
      const at = column * rows + row;
      const byte = packed[at >> 1] ?? 0;
      const four = (at & 1) === 0 ? byte & 15 : byte >> 4;
      weight[row * columns + column] = (four - 8) * (scales[Math.floor(at / blockSize)] ?? 0);
    }
  }
  return weight;
}
