/** All of what the short suite takes a sample of. */
import './dice.test.js'
