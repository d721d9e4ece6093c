import type { Layer, Linear, Norm, Weights } from "./weights.ts";
import { width } from "./weights.ts";

const heads = 12;
const headWidth = width / heads;
const epsilon = 1e-12;

declare const brand: unique symbol;
export type Tensor = { readonly [brand]: "tensor" } & { dispose(): void; dataSync(): Float32Array };

/** The operations of TensorFlow.js that the network needs. */
export interface Tensors {
  tensor1d(numbers: Float32Array): Tensor;
  tensor2d(numbers: Float32Array, shape: readonly [number, number]): Tensor;
  tidy(work: () => Tensor): Tensor;
  add(left: Tensor, right: Tensor | number): Tensor;
  sub(left: Tensor, right: Tensor): Tensor;
  mul(left: Tensor, right: Tensor | number): Tensor;
  mean(of: Tensor, axis: number, keepDims?: boolean): Tensor;
  rsqrt(of: Tensor): Tensor;
  tanh(of: Tensor): Tensor;
  softmax(of: Tensor): Tensor;
  matMul(left: Tensor, right: Tensor, transposeLeft?: boolean, transposeRight?: boolean): Tensor;
  reshape(of: Tensor, shape: readonly number[]): Tensor;
  transpose(of: Tensor, order: readonly number[]): Tensor;
  readonly fused: { matMul(of: { readonly a: Tensor; readonly b: Tensor; readonly bias: Tensor }): Tensor };
}

type Network = (ids: readonly number[]) => Float32Array;
type Held<T> = { readonly [K in keyof T]: (of: Tensor) => Tensor };

/**
 * The network of all-MiniLM-L6-v2: a transformer of six layers, whose vectors of the tokens are averaged. Returns a vector
 * of any length for the ids of a text's tokens.
 */
export function createNetwork(tf: Tensors, { norm: first, layers: given, ...rows }: Weights): Network {
  const linear = ({ weight, bias, ...size }: Linear): ((of: Tensor) => Tensor) => {
    const held = { b: tf.tensor2d(weight, [size.rows, size.columns]), bias: tf.tensor1d(bias) };
    return (a) => tf.fused.matMul({ a, ...held });
  };
  const norm = ({ gain, bias }: Norm): ((of: Tensor) => Tensor) => {
    const held = { gain: tf.tensor1d(gain), bias: tf.tensor1d(bias) };
    return (of) => {
      const centred = tf.sub(of, tf.mean(of, 1, true));
      const variance = tf.mean(tf.mul(centred, centred), 1, true);
      const scaled = tf.mul(centred, tf.rsqrt(tf.add(variance, epsilon)));
      return tf.add(tf.mul(scaled, held.gain), held.bias);
    };
  };
  // The returned function must not hold the weights twice.
  const layers = given.map((layer): Held<Layer> => ({
    query: linear(layer.query),
    key: linear(layer.key),
    value: linear(layer.value),
    output: linear(layer.output),
    outputNorm: norm(layer.outputNorm),
    expand: linear(layer.expand),
    contract: linear(layer.contract),
    contractNorm: norm(layer.contractNorm),
  }));
  const firstNorm = norm(first);

  const perHead = (of: Tensor, count: number): Tensor =>
    tf.transpose(tf.reshape(of, [count, heads, headWidth]), [1, 0, 2]);

  function attend(layer: Held<Layer>, of: Tensor, count: number): Tensor {
    const [query, key, value] = [layer.query(of), layer.key(of), layer.value(of)].map((each) => perHead(each, count));
    if (query === undefined || key === undefined || value === undefined) throw new Error("a layer has no heads");
    const near = tf.softmax(tf.mul(tf.matMul(query, key, false, true), 1 / Math.sqrt(headWidth)));
    return layer.output(tf.reshape(tf.transpose(tf.matMul(near, value), [1, 0, 2]), [count, width]));
  }

  return (ids) => {
    const vector = tf.tidy(() => {
      let of = firstNorm(tf.tensor2d(embedded(rows, ids), [ids.length, width]));
      for (const layer of layers) {
        of = layer.outputNorm(tf.add(of, attend(layer, of, ids.length)));
        of = layer.contractNorm(tf.add(of, layer.contract(gelu(tf, layer.expand(of)))));
      }
      return tf.mean(of, 0);
    });
    const numbers = vector.dataSync();
    vector.dispose();
    return numbers;
  };
}

function embedded(
  { words, positions, type }: Pick<Weights, "words" | "positions" | "type">,
  ids: readonly number[],
): Float32Array {
  const rows = new Float32Array(ids.length * width);
  for (const [at, id] of ids.entries()) {
    for (let each = 0; each < width; each += 1) {
      const word = words[id * width + each] ?? 0;
      rows[at * width + each] = word + (positions[at * width + each] ?? 0) + (type[each] ?? 0);
    }
  }
  return rows;
}

/** The approximation with tanh, since WebAssembly has no kernel for erf. */
function gelu(tf: Tensors, of: Tensor): Tensor {
  const cube = tf.mul(tf.mul(of, of), of);
  const inside = tf.mul(tf.add(tf.mul(cube, 0.044_715), of), Math.sqrt(2 / Math.PI));
  return tf.mul(tf.mul(tf.add(tf.tanh(inside), 1), of), 0.5);
}
