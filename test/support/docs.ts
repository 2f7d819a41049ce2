/** The guides of the repository, as tests read them. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fault } from '../../core/base/assert.js'
import { fencesOf, type Fence } from '../../docs/make/fences.js'

export const repository = resolve(import.meta.dirname, '../../..')

/** Written pages: README, the comment file of the state example, docs, but not what is made. */
export const pages: readonly string[] = [
  'README.md',
  'state-example/README.md',
  ...readdirSync(join(repository, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(repository, 'docs/examples'))
    .map((name) => `docs/examples/${name}/README.md`)
    .filter((page) => existsSync(join(repository, page))),
]

export const textOf = (page: string): string => readFileSync(join(repository, page), 'utf8')

export const blocksOf = (page: string): readonly Fence[] => fencesOf(textOf(page))

/** Bodies of the blocks that name this test, in order. */
export const blocksFor = (page: string, test: string): readonly string[] => {
  const found = blocksOf(page)
    .filter(({ attributes }) => attributes['test'] === test)
    .map(({ body }) => body)
  if (found.length === 0) throw fault(`${page} has no block test=${test}`)
  return found
}

export interface ShellRun {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a text with `sh`, as somebody who pastes it. */
export const sh = (text: string, folder: string, timeout = 60_000): Promise<ShellRun> =>
  new Promise((ended) => {
    execFile(
      'sh',
      ['-c', text],
      { cwd: folder, env: { PATH: process.env['PATH'] ?? '', HOME: folder }, timeout },
      (error, out, err) => {
        ended({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, out, err })
      },
    )
  })

const mark = '~~~ next block ~~~'
/** Runs blocks in one shell, against a daemon at `url` in place of the default; what each printed. */
export const shBlocks = async (
  blocks: readonly string[],
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<{ readonly printed: readonly string[]; readonly run: ShellRun }> => {
  const text = blocks.map((block) => block.replaceAll('http://127.0.0.1:4000', url)).join(`\necho; echo '${mark}'\n`)
  const run = await sh(text, folder)
  return { printed: run.out.split(mark).map((each) => each.trim()), run }
}

/** What the first stage of a container file copies out of the repository. */
export const copiedBy = (containerfile: string): readonly string[] =>
  [...containerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gmu)].flatMap(([, names = '']) => names.split(' '))
