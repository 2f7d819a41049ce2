/** The daemon as a client, judged by the suite of those who keep the protocol. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const support = (name: string): string =>
  fileURLToPath(new URL(`../../../support/conformance/${name}.js`, import.meta.url))
const { resolve } = createRequire(import.meta.url)
const judge = join(dirname(resolve('@modelcontextprotocol/conformance/package.json')), 'dist/index.js')

interface Said {
  readonly code: number
  readonly text: string
}

const askJudge = (...args: string[]): Promise<Said> =>
  new Promise((done) => {
    const command = ['--no-warnings', '--import', support('judge-preload'), judge, ...args]
    execFile(process.execPath, command, { maxBuffer: 64 * 1024 * 1024 }, (error, out, err) =>
      done({ code: error === null ? 0 : 1, text: `${out}\n${err}` }),
    )
  })

/** What the judge says of one scenario, if it is not content: a scenario in which nothing is checked is none. */
const faultOf = async (scenario: string): Promise<string | undefined> => {
  const command = `${process.execPath} ${support('client')}`
  const { code, text } = await askJudge('client', '--command', command, '--scenario', scenario, '--timeout', '100000')
  return code === 0 && /^Passed: [1-9]/mu.test(text) ? undefined : `${scenario}: ${text.slice(-2_000)}`
}

/** Names in the first cells of the table in docs/mcp.md. */
const namedInDocs = async (): Promise<string[]> => {
  const text = await readFile(new URL('../../../../../docs/mcp.md', import.meta.url), 'utf8')
  const rows = text.split('\n').filter((line) => line.startsWith('| `'))
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/gu)].map(([, name = '']) => name))
}

/** As many as a machine with two cores runs beside each other without waiting for itself. */
const atOnce = 2

test('mcp-20: the conformance suite for clients passes, but for the scenarios that docs/mcp.md names', async (t) => {
  const { text } = await askJudge('list', '--client')
  const scenarios = [...text.matchAll(/^ {2}- (\S+)/gmu)].map(([, name = '']) => name)
  const named = await namedInDocs()
  t.deepEqual(
    named.filter((name) => !scenarios.includes(name)),
    [],
    'the table names scenarios that there are',
  )
  const left = scenarios.filter((name) => !named.includes(name))
  t.true(left.length >= 30)
  const faults: string[] = []
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const fault = await faultOf(next)
      if (fault !== undefined) faults.push(fault)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  t.deepEqual(faults, [])
})
