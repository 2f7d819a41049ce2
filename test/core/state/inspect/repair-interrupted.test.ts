/** A repair that is interrupted says what was done, and of what is left only what is known. */
import test from 'ava'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIds } from '../../../../core/base/ids.js'
import { noInterrupts, type Interrupts } from '../../../../core/base/interrupts.js'
import { errors } from '../../../../core/state/errors.js'
import { repairRoot } from '../../../../core/state/inspect/repair.js'
import { clock, declared, disk, keptRoot } from '../../../support/kept-root.js'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Interrupts the look of that number. */
const interruptedAt = (number: number): Interrupts => {
  let looks = 0
  const inOneGo: Interrupts['inOneGo'] = async (work) => {
    looks += 1
    if (looks === number) throw errors.interrupted({ details: { stands: 'Nothing was changed.' } })
    return work()
  }
  return { ...noInterrupts, inOneGo }
}

const repair = (root: string, interrupts: Interrupts) =>
  repairRoot({ root, disk, clock, ids: createIds(clock), log: silent, declared, interrupts, apply: true })

const verifyTells = 'and what was done stays: holdfast state verify tells whether all is clean.'

test('state-35: the sentence of an interrupt counts what was done, and tells what is left where that is known', async (t) => {
  const root = await keptRoot(t)
  const damage = (): void => {
    chmodSync(join(root, 'data'), 0o755)
    writeFileSync(join(root, 'watermark.json'), '{}')
  }
  const sentenceAt = async (look: number): Promise<string> => {
    damage()
    return (await t.throwsAsync(repair(root, interruptedAt(look))))?.message ?? ''
  }
  t.is(await sentenceAt(1), 'Broken off. Nothing was changed.')
  t.is(
    await sentenceAt(2),
    'Broken off. 1 repair done, and what was done stays: repeat the command for what is left.',
    'the folder is closed before the lock is taken',
  )
  t.is(await sentenceAt(3), `Broken off. 2 repairs done, ${verifyTells}`)
  t.is(await sentenceAt(4), `Broken off. 2 repairs done, ${verifyTells}`)
  damage()
  t.true((await repair(root, noInterrupts)).after.clean)
})
