/** Texts that have to be as files below `test/golden` say. `HOLDFAST_GOLDEN=write` writes the files anew. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { repository } from './docs.js'

export const goldenPath = (name: string): string => join(repository, 'test', 'golden', name)

export const isGoldenText = (t: ExecutionContext, name: string, text: string): void => {
  const file = goldenPath(name)
  if (process.env['HOLDFAST_GOLDEN'] === 'write') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  t.true(existsSync(file), `${file} is not there`)
  t.is(text, readFileSync(file, 'utf8'))
}
