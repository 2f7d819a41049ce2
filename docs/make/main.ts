/** `npm run docs`: makes the reference and fills the examples into the guides; `-- --state-example` makes that folder again. */
import { resolve } from 'node:path'
import { makeStateExample } from './state-example.js'

const repository = resolve(import.meta.dirname, '../../..')

if (process.argv.includes('--state-example')) await makeStateExample(resolve(repository, 'state-example'))
process.exit(0)
