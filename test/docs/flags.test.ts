/** Flags that pages for people name are flags that there are. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { repository, textOf } from '../support/docs.js'

/** Made from the program itself, as another test checks. */
const known = new Set(
  ['docs/reference/command-line.md', 'docs/reference/configuration.md'].flatMap(
    (page) => textOf(page).match(/--[a-z][a-z0-9-]*/gu) ?? [],
  ),
)
/** Of every command. */
const ofAll = new Set(['--help', '--version'])

const pagesIn = (folder: string): string[] =>
  readdirSync(join(repository, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))

/** What is written as code: spans, and lines of blocks. */
const codeIn = (text: string): string[] => {
  const blocks = [...text.matchAll(/```[a-z]*\n([^]*?)```/gu)].flatMap(([, block = '']) => block.split('\n'))
  const spans = [...text.replaceAll(/```[^]*?```/gu, '').matchAll(/`([^`\n]+)`/gu)].map(([, span = '']) => span)
  return [...blocks, ...spans]
}

/** The part of a line that is ours: up to what it is piped into. */
const oursIn = (code: string): string | undefined => {
  const line = code.trim().replace(/^\$ /u, '')
  return line.startsWith('holdfast ') || /^--[a-z-]+(?: [A-Z]+)?$/u.test(line)
    ? line.replace(/ [|;&].*$/u, '')
    : undefined
}

/** Of other programs, named as what they are. */
const others = new Set([
  '--ext-diff',
  '--init',
  '--max-semi-space-size',
  '--cpu-prof',
  '--heap-prof',
  '--no-parallel-scavenge',
  '--test-force-exit',
  '--stdio',
  '--password-stdin',
  '--with-token',
])

test('every flag that is named as one of holdfast is in the reference', (t) => {
  const found = [...pagesIn('docs'), ...pagesIn('docs/rules'), 'README.md'].flatMap((page) =>
    codeIn(textOf(page)).flatMap((code) =>
      (oursIn(code)?.match(/(?<=^| )--[a-z][a-z0-9-]*/gu) ?? []).flatMap((flag) =>
        known.has(flag) || ofAll.has(flag) || others.has(flag) ? [] : [`${page}: ${flag}`],
      ),
    ),
  )
  t.deepEqual([...new Set(found)], [])
  t.true(known.size > 50)
})
