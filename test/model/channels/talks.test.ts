import test from 'ava'
import { playTalks } from './talks.js'

test('floor-1, floor-2, floor-3, floor-4, floor-5: in random talk those speak whom the model names', async (t) => {
  await playTalks(t, { seed: Number(process.env['MODEL_SEED'] ?? 1), count: Number(process.env['MODEL_SEEDS'] ?? 20) })
})
