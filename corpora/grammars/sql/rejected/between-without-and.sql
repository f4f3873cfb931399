select a between 1;
