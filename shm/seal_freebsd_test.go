package shm

const addSeals = fAddSeals
