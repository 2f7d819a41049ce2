/** A life of the program whose code is kept: `keep-code FOLDER LIFE ARGUMENT…`. What it needed, later lives need. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resetHeap } from '../heap.js'
import { compile, filesOf, type Life } from './program.js'

const [folder = '', life = ''] = process.argv.splice(2, 2)
const files = filesOf(folder)
const { script, run } = compile(folder, readFileSync(files.program, 'latin1'))
const kept: Life = life === 'serve' ? 'serve' : 'client'
const keep = (): void => {
  resetHeap()
  writeFileSync(files.code(kept), script.createCachedData())
}
// What a daemon needs to stop is not kept: each start would read it.
process.once(kept === 'serve' ? 'SIGTERM' : 'exit', keep)
run().main()
