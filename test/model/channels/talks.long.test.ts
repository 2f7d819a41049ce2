/** `MODEL_SEED`, `MODEL_SEEDS` and `MODEL_MS` play other talks, or more. */
import test from 'ava'
import { playTalks } from './talks.js'
import { partOf } from '../../support/volume.js'

const seed = Number(process.env['MODEL_SEED'] ?? 1_000)
const count = Number(process.env['MODEL_SEEDS'] ?? 120)
const withinMs = Number(process.env['MODEL_MS'] ?? partOf(25_000, 100_000))

test('floor-1, floor-5, floor-9, floor-11: in much random talk those speak whom the model names', async (t) => {
  await playTalks(t, { seed, count, withinMs })
})
