/** The rules in docs/rules: their ids, who cites them, and that a test checks each. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { repository, textOf } from '../support/docs.js'

const folder = 'docs/rules'
const pages = readdirSync(join(repository, folder))
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => name.replace(/\.md$/u, ''))
const id = `(?:${pages.join('|')})-\\d+`
/** Rules by page, in the order in which they stand there. */
const rulesOf = (page: string): string[] =>
  [...textOf(`${folder}/${page}.md`).matchAll(/^- \*\*([^*]+)\*\* \S/gmu)].map(([, rule = '']) => rule)
const rules = new Set(pages.flatMap(rulesOf))

const sourcesBelow = (top: string): string[] =>
  readdirSync(join(repository, top), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
/** Ids that stand before the sentence in a title, as in `runs-1, runs-2: …`. */
const inTitles = new RegExp(`(?<=['"\`])(?:${id}(?:, )?)+(?=: )`, 'gu')
const inComments = new RegExp(`(?<![\\w-])${id}(?![\\w-])`, 'gu')
const commentsOf = (text: string): string =>
  [...text.matchAll(/\/\*\*?[^]*?\*\/|(?<=^|\s)\/\/.*$/gmu)].map(([comment]) => comment).join('\n')
const citedIn = (top: string): { rule: string; at: string }[] =>
  sourcesBelow(top).flatMap((at) => {
    const text = readFileSync(at, 'utf8')
    const titles = (text.match(inTitles) ?? []).flatMap((found) => found.split(', '))
    return [...titles, ...(commentsOf(text).match(inComments) ?? [])].map((rule) => ({ rule, at }))
  })
const none = (t: ExecutionContext, faults: readonly string[]): void => {
  t.deepEqual(faults, [], `\n${faults.join('\n')}`)
}

test('rules of a page are numbered from one without a gap, each once, and every line of a list is a rule', (t) => {
  for (const page of pages) {
    const found = rulesOf(page)
    t.deepEqual(
      found.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })),
      found.map((_, index) => `${page}-${index + 1}`),
    )
    t.is(found.length, [...textOf(`${folder}/${page}.md`).matchAll(/^\s*[-*] /gmu)].length, page)
  }
})

test('every rule that a comment or a title cites is there', (t) => {
  none(
    t,
    ['core', 'plugins', 'test']
      .flatMap(citedIn)
      .flatMap(({ rule, at }) => (rules.has(rule) ? [] : [`${at} cites ${rule}`])),
  )
})

test('every page of rules that is named is there', (t) => {
  const named = ['core', 'plugins', 'test'].flatMap(sourcesBelow).flatMap((at) =>
    [...commentsOf(readFileSync(at, 'utf8')).matchAll(/docs\/rules\/([a-z-]+)\.md/gu)].map(([, page = '']) => ({
      at,
      page,
    })),
  )
  none(
    t,
    named.flatMap(({ at, page }) => (pages.includes(page) ? [] : [`${at} names ${page}`])),
  )
})

test('each rule is cited by a test', (t) => {
  const cited = new Set(citedIn('test').map(({ rule }) => rule))
  none(
    t,
    [...rules].filter((rule) => !cited.has(rule)).map((rule) => `no test cites ${rule}`),
  )
})

test('the index names each page with the number of its rules', (t) => {
  const index = textOf(`${folder}/README.md`)
  for (const page of pages) t.regex(index, new RegExp(`\\(${page}\\.md\\) \\| ${rulesOf(page).length} \\|`, 'u'))
})
