/**
 * Divides the test files among a few processes: `dist/test/shifts/*.test.js` with all of the short suite, and
 * `dist/test/shifts/*.long.test.js` with the files of the long one that have none of their own (alone.ts). Each runs its
 * files in turns (turns.ts). What several files share must not declare tests by itself: it is given the function to
 * declare them with.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { dist } from '../../../core/build/program.js'
import { alone } from './alone.js'

const tests = path.join(dist, 'test')
const shifts = path.join(tests, 'shifts')
const turns = path.join(tests, 'support/shifts/turns.js')

/** Each loads nearly all modules, for three seconds: few, but more than run at once, as the last one is alone. */
const counts = { short: 8, long: 16 }

const nameOf = (file: string): string => file.slice(0, -'.test.js'.length)

const addressFrom = (folder: string, file: string): string => {
  const relative = path.relative(folder, file)
  return relative.startsWith('.') ? relative : `./${relative}`
}

const opening = /^import test(?:, \{\})? from 'ava';$/mu

const short = /^import '(?<name>\.\/[^']+\.test\.js)';?$/mu

/** What declares the tests of a file: a long one may be all of a short one. */
const declaring = (file: string): string => {
  const text = readFileSync(path.join(tests, file), 'utf8')
  if (opening.test(text)) return text
  const name = short.exec(text)?.groups?.['name']
  if (name === undefined) throw new Error(`${file} does not import ava as the others do`)
  return declaring(path.join(path.dirname(file), name))
}

/** Writes the file once more, with tests that wait for their turn; returns where. */
const writeTurn = (file: string): string => {
  const at = path.join(tests, `${nameOf(file)}.turn.js`)
  const name = JSON.stringify(nameOf(file).replaceAll('/', ' › '))
  const from = addressFrom(path.dirname(at), turns)
  writeFileSync(
    at,
    declaring(file).replace(opening, `import { testsOf } from '${from}'; const test = testsOf(${name});`),
  )
  return at
}

const writeShift = (name: string, files: readonly string[]): void => {
  const lines = files.map((file) => `import '${addressFrom(shifts, writeTurn(file))}'`)
  const text = [`import { runInTurns } from '${addressFrom(shifts, turns)}'`, ...lines, 'runInTurns()', ''].join('\n')
  writeFileSync(path.join(shifts, name), text)
}

const writeShifts = (end: string, count: number, files: readonly string[]): void => {
  for (let at = 0; at < count; at++)
    writeShift(
      `${String(at).padStart(2, '0')}${end}`,
      files.filter((_, index) => index % count === at),
    )
}

const all = readdirSync(tests, { recursive: true, encoding: 'utf8' })
for (const file of all.filter((name) => name.endsWith('.turn.js'))) rmSync(path.join(tests, file))
rmSync(shifts, { recursive: true, force: true })
mkdirSync(shifts)

const written = all.filter((name) => name.endsWith('.test.js') && !name.startsWith('shifts/')).toSorted()
const isLong = (file: string): boolean => file.endsWith('.long.test.js')
writeShifts(
  '.test.js',
  counts.short,
  written.filter((file) => !isLong(file)),
)
writeShifts(
  '.long.test.js',
  counts.long,
  written.filter((file) => isLong(file) && !alone.some((name) => `/${file}`.endsWith(`/${name}`))),
)
