// What `jpg import` says to type next: on a terminal only, so the helper's terminal is used.
