/** Thousands of larger flows against the second model. */
import test from 'ava'
import { judgedBy } from '../../../support/judges.js'
import { compare } from './second-model.js'
import { partOf } from '../../../support/volume.js'

const judged = judgedBy(test, 'python3-hypothesis')

for (const seed of ['2', '3'].slice(0, partOf(1, 2)))
  judged(`flows-10: thousands of larger flows are what a second model says, by seed ${seed}`, (t) => {
    t.is(compare(t, 'drawn', seed, String(partOf(800, 1500))).size, 8)
  })
