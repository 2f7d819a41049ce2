// Cannot be parsed: the other file, which the test writes, is wrong.
import { part } from './part.js'

export default { id: 'bad-syntax', part }
