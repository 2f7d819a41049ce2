/** `MODEL_SEED`, `MODEL_SEEDS` and `MODEL_STEPS` play other histories; `MODEL_SHRINK` looks for the shortest that fails. */
import test from 'ava'
import { playHistories } from './histories.js'
import { partOf } from '../support/volume.js'

playHistories(test, {
  seed: Number(process.env['MODEL_SEED'] ?? 1),
  count: Number(process.env['MODEL_SEEDS'] ?? partOf(2, 10)),
  length: Number(process.env['MODEL_STEPS'] ?? 2000),
})
