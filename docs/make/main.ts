/**
 * `npm run docs`: makes the reference and fills examples into the guides; `-- --state-example` makes that folder again.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from './modules.js'
import { makeGuides, makeReference } from './reference.js'
import { makeStateExample } from './state-example.js'

const write = (made: ReadonlyMap<string, string>): void => {
  for (const [path, text] of made) {
    mkdirSync(dirname(join(repository, path)), { recursive: true })
    writeFileSync(join(repository, path), text)
  }
}

if (process.argv.includes('--state-example')) await makeStateExample(join(repository, 'state-example'))
else {
  const reference = await makeReference()
  rmSync(join(repository, 'docs/reference'), { recursive: true, force: true })
  write(reference)
  write(makeGuides())
}
process.exit(0)
