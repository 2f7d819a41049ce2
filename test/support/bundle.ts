/**
 * What tests need many times and is slow to make: the program, its
 * OpenAPI document, the validators of its answers, and the process that wants a
 * lock. Made again when the modules change.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, statSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { makeProgram } from '../../core/build/make-program.js'
import { dist } from '../../core/build/program.js'
import { fault } from '../../core/base/assert.js'

const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

const main = path.join(dist, 'core/main.js')

/** What a daemon says of itself. */
const readOpenapi = async (): Promise<string> => {
  const root = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  const daemon = spawn(process.execPath, [main, 'serve', '--bind', '127.0.0.1:0', '--state-root', root], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', HOME: root },
  })
  let document = ''
  daemon.stdout.once('data', (line: Buffer) => {
    const [url = ''] = /http:\/\/[^,\s]+/u.exec(String(line)) ?? []
    void fetch(`${url}/v1/openapi.json`)
      .then(async (answer) => {
        document = await answer.text()
      })
      .finally(() => daemon.kill('SIGTERM'))
  })
  await new Promise((resolve) => daemon.once('close', resolve))
  await rm(root, { recursive: true, force: true })
  return document
}

/** What modules of the older kind expect. */
const moduleOpening = `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url), __filename = import.meta.filename`

const writeLockChild = async (outfile: string): Promise<void> => {
  const { build } = await import('esbuild')
  await build({
    bundle: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    entryPoints: [path.join(dist, 'test/support/lock-child.js')],
    outfile,
    format: 'esm',
    banner: { js: moduleOpening },
  })
}

const makeBundle = async (folder: string): Promise<void> => {
  const draft = await mkdtemp(`${folder}.`)
  const { openapi, validators, lockChild } = partsOf(draft)
  const document = await readOpenapi()
  await writeFile(openapi, document)
  const { codeOfAnswers } = await import('./validators.js')
  await writeFile(validators, codeOfAnswers(JSON.parse(document)))
  await writeLockChild(lockChild)
  // Another test process may have been first: its bundle is the same.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
}

const partsOf = (folder: string) => ({
  main,
  openapi: path.join(folder, 'openapi.json'),
  validators: path.join(folder, 'validators.cjs'),
  lockChild: path.join(folder, 'lock-child.js'),
})

/** The paths of what a bundle of the modules as they are now has. */
export const findBundle = async (): Promise<ReturnType<typeof partsOf>> => {
  const program = await makeProgram()
  if (program === undefined) throw fault('the build left no notes')
  const folder = path.join(program, 'test')
  if (!exists(folder)) await makeBundle(folder)
  return partsOf(folder)
}
