/** The image, built by the steps of its file without a container: what it copies, and what it runs. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { copiedBy, repository, sh } from '../support/docs.js'

test('what the container file copies is enough for what it runs, and what comes of it starts', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-image-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = readFileSync(join(repository, 'docs/operations/Containerfile'), 'utf8')
  for (const name of copiedBy(file)) cpSync(join(repository, name), join(folder, name), { recursive: true })
  // The packages that are here stand for those that `npm ci` would fetch.
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  const [, build = ''] = /^RUN (npm run build) && npm prune/mu.exec(file) ?? []
  const built = await sh(build, folder, 600_000)
  t.is(built.code, 0, built.out + built.err)
  const [, entry = ''] = /^ENTRYPOINT .*"\/opt\/holdfast\/([^"]+)"\]$/mu.exec(file) ?? []
  const { code, out } = await sh(`node ${entry} --version`, folder)
  t.deepEqual([code, /^\d+\.\d+\.\d+/u.test(out)], [0, true])
})
